//! The jobs that the processes run, one kind for each sort of limit.

use std::sync::Arc;
use std::time::Duration;

use warp_runtime::prelude::*;
use warp_runtime::storage::clock::{Clock, SystemClock};
use warp_runtime::worker::WorkerBuilder;

use super::notebook::Notebook;

/// Starts in each window or interval of a second under [`Mail`], [`Call`] and [`Meter`].
pub const STARTS_A_SECOND: u32 = 40;

/// How many [`Print`] jobs run at once at most.
pub const PRINTERS: u32 = 5;

/// One at a time for each account.
#[mutex("account:{account}", mode = "wait")]
#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
pub struct Transfer {
    /// The account.
    pub account: u32,
}

/// As many at once as there are printers.
#[semaphore("printers", limit = 5)]
#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
pub struct Print;

/// By the clock's seconds.
#[rate_limit("mail", count = 40, per = "1s", mode = "wait", style = "fixed")]
#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
pub struct Mail;

/// In any second.
#[rate_limit("call", count = 40, per = "1s", mode = "wait", style = "sliding")]
#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
pub struct Call;

/// At an even pace.
#[rate_limit("meter", count = 40, per = "1s", mode = "wait", style = "token_bucket")]
#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
pub struct Meter;

/// Without any limit.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
pub struct Free;

/// Does not end before it has begun twice: whoever runs it first has to be killed.
#[mutex("books", mode = "wait")]
#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
pub struct CloseBooks;

/// Does not end before it is called back.
#[mutex("errand", mode = "wait")]
#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
pub struct Errand;

/// Takes longer, under a key that its publisher gives it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
pub struct Haul;

/// Takes as long as a [`Haul`], under the same key.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
pub struct Carry;

/// The key of every [`Haul`] and [`Carry`].
pub const HAULS: &str = "hauls";

/// What a process has handlers for.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Trade {
    /// Every kind.
    Everything,
    /// [`Haul`] alone.
    Hauls,
    /// [`Carry`] alone.
    Carries,
}

/// Runs every job, and writes down what it sees.
#[derive(Clone, Debug)]
pub struct Clerk {
    process: Arc<str>,
    notebook: Arc<Notebook>,
}

impl Clerk {
    /// The clerk of this process.
    pub fn new(process: &str, notebook: Notebook) -> Self {
        Self {
            process: process.into(),
            notebook: Arc::new(notebook),
        }
    }

    async fn work(&self, key: &str, ctx: &JobContext, work: impl Future<Output = ()>) {
        self.notebook.began(&self.process, key, ctx);
        work.await;
        self.notebook.ended(&self.process, key, ctx);
    }

    /// A worker's builder with a handler for each kind of a trade.
    pub fn builder(self, storage: Storage, trade: Trade) -> WorkerBuilder {
        let builder = Worker::builder(storage);
        match trade {
            Trade::Everything => self.all(builder),
            Trade::Hauls => builder.handler::<Haul, _>(self),
            Trade::Carries => builder.handler::<Carry, _>(self),
        }
    }

    fn all(self, builder: WorkerBuilder) -> WorkerBuilder {
        builder
            .handler::<Transfer, _>(self.clone())
            .handler::<Print, _>(self.clone())
            .handler::<Mail, _>(self.clone())
            .handler::<Call, _>(self.clone())
            .handler::<Meter, _>(self.clone())
            .handler::<Free, _>(self.clone())
            .handler::<CloseBooks, _>(self.clone())
            .handler::<Errand, _>(self.clone())
            .handler::<Haul, _>(self.clone())
            .handler::<Carry, _>(self)
    }
}

async fn for_a_moment() {
    SystemClock.sleep(Duration::from_millis(10)).await;
}

async fn for_a_while() {
    SystemClock.sleep(Duration::from_millis(50)).await;
}

impl JobHandler<Transfer> for Clerk {
    async fn handle(&self, job: Transfer, ctx: &JobContext) -> JobResult {
        let key = format!("account:{}", job.account);
        self.work(&key, ctx, for_a_moment()).await;
        Ok(())
    }
}

impl JobHandler<CloseBooks> for Clerk {
    async fn handle(&self, _: CloseBooks, ctx: &JobContext) -> JobResult {
        let until_the_second_time = async {
            if self.notebook.begun(ctx.id()).len() < 2 {
                std::future::pending::<()>().await;
            }
        };
        self.work("books", ctx, until_the_second_time).await;
        Ok(())
    }
}

impl JobHandler<Errand> for Clerk {
    async fn handle(&self, _: Errand, ctx: &JobContext) -> JobResult {
        let until_called_back = async {
            while !self.notebook.is_called_back() {
                for_a_moment().await;
            }
        };
        self.work("errand", ctx, until_called_back).await;
        Ok(())
    }
}

impl JobHandler<Haul> for Clerk {
    async fn handle(&self, _: Haul, ctx: &JobContext) -> JobResult {
        self.work(HAULS, ctx, for_a_while()).await;
        Ok(())
    }
}

impl JobHandler<Carry> for Clerk {
    async fn handle(&self, _: Carry, ctx: &JobContext) -> JobResult {
        self.work(HAULS, ctx, for_a_while()).await;
        Ok(())
    }
}

macro_rules! takes_a_moment {
    ($($job:ty => $key:literal),+ $(,)?) => {$(
        impl JobHandler<$job> for Clerk {
            async fn handle(&self, _: $job, ctx: &JobContext) -> JobResult {
                self.work($key, ctx, for_a_moment()).await;
                Ok(())
            }
        }
    )+};
}

takes_a_moment! {
    Print => "printers",
    Mail => "mail",
    Call => "call",
    Meter => "meter",
    Free => "free",
}
