//! The jobs, and what their handlers tell.

use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use warp_runtime::Timestamp;
use warp_runtime::prelude::*;
use warp_runtime::storage::clock::{Clock, SystemClock};
use warp_runtime::worker::WorkerBuilder;

/// Enough for all doors that are closed at once, and for all tokens there are at first.
const CONCURRENCY: usize = 32;

/// Has a door until it is told to go.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
#[mutex("door:{number}", mode = "wait")]
pub(crate) struct Holds {
    pub(crate) number: u32,
}

/// Wants the same door.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
#[mutex("door:{number}", mode = "wait")]
pub(crate) struct Waits {
    pub(crate) number: u32,
}

/// How many tokens there are at first.
pub(crate) const TOKENS: u32 = 20;

/// How long after the last one there is another one.
pub(crate) const TOKEN_EVERY_MICROS: u64 = 100_000;

/// Takes a token.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
#[rate_limit(
    "bell",
    count = 20,
    per_seconds = 2,
    mode = "wait",
    style = "token_bucket"
)]
pub(crate) struct Tick {
    pub(crate) number: u32,
}

/// Takes one too.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
#[rate_limit(
    "bell",
    count = 20,
    per_seconds = 2,
    mode = "wait",
    style = "token_bucket"
)]
pub(crate) struct Tock {
    pub(crate) number: u32,
}

/// Which jobs a process serves.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Part {
    /// [`Holds`] and [`Tick`].
    First,
    /// [`Waits`] and [`Tock`].
    Second,
}

/// What a handler tells.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Told {
    pub(crate) what: What,
    /// Which of the jobs of this kind.
    pub(crate) number: u32,
    /// When.
    pub(crate) at: Timestamp,
    /// The admission instant of the job.
    pub(crate) admitted_at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum What {
    Began,
    Ended,
}

/// Runs the jobs.
#[derive(Clone)]
pub(crate) struct Hand {
    /// Up to which number doors are to be released.
    pub(crate) released: watch::Receiver<u32>,
}

impl Hand {
    pub(crate) fn builder(self, part: Part, storage: Storage) -> WorkerBuilder {
        let builder = Worker::builder(storage).concurrency(CONCURRENCY);
        match part {
            Part::First => builder
                .handler::<Holds, _>(self.clone())
                .handler::<Tick, _>(self),
            Part::Second => builder
                .handler::<Waits, _>(self.clone())
                .handler::<Tock, _>(self),
        }
    }
}

fn tell(what: What, number: u32, ctx: &JobContext) -> JobResult {
    let told = Told {
        what,
        number,
        at: SystemClock.now(),
        admitted_at: ctx.admitted_at(),
    };
    println!("{}", serde_json::to_string(&told)?);
    Ok(())
}

impl JobHandler<Holds> for Hand {
    async fn handle(&self, Holds { number }: Holds, ctx: &JobContext) -> JobResult {
        tell(What::Began, number, ctx)?;
        let mut released = self.released.clone();
        released.wait_for(|&up_to| up_to >= number).await?;
        tell(What::Ended, number, ctx)
    }
}

macro_rules! tells_that_it_began {
    ($($job:ident)+) => {$(
        impl JobHandler<$job> for Hand {
            async fn handle(&self, $job { number }: $job, ctx: &JobContext) -> JobResult {
                tell(What::Began, number, ctx)
            }
        }
    )+};
}

tells_that_it_began!(Waits Tick Tock);
