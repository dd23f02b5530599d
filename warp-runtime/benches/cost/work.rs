//! The jobs, and the worker that runs them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use warp_runtime::prelude::*;
use warp_runtime::storage::clock::{Clock, SystemClock};

use crate::Outcome;
use crate::place::Place;

/// How many handlers run at once.
const CONCURRENCY: usize = 32;

/// How long a worker has been there before it is called idle.
const SETTLES_FOR: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
struct Free;

#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
#[mutex("account:{number}", mode = "wait")]
struct OfAColdKey {
    number: usize,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
#[mutex("till:{number}", mode = "wait")]
struct OfAHotKey {
    number: usize,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
#[semaphore("gpu", limit = 5)]
struct FiveAtOnce;

#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
#[rate_limit(
    "partner",
    count = 1_000,
    per_seconds = 1,
    mode = "wait",
    style = "token_bucket"
)]
struct Metered;

/// A kind of work.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    NoPolicy,
    ColdKeys,
    HotKeys,
    Semaphore,
    TokenBucket,
}

impl Work {
    pub(crate) const ALL: [Self; 5] = [
        Self::NoPolicy,
        Self::ColdKeys,
        Self::HotKeys,
        Self::Semaphore,
        Self::TokenBucket,
    ];

    pub(crate) async fn enqueue(self, storage: Storage, jobs: usize) -> Outcome {
        let publisher = Publisher::new(storage);
        let numbers = 0..jobs;
        match self {
            Self::NoPolicy => publisher.enqueue_all(numbers.map(|_| Free)).await?,
            Self::ColdKeys => {
                let jobs = numbers.map(|number| OfAColdKey { number });
                publisher.enqueue_all(jobs).await?
            }
            Self::HotKeys => {
                let jobs = numbers.map(|number| OfAHotKey { number: number % 8 });
                publisher.enqueue_all(jobs).await?
            }
            Self::Semaphore => publisher.enqueue_all(numbers.map(|_| FiveAtOnce)).await?,
            Self::TokenBucket => publisher.enqueue_all(numbers.map(|_| Metered)).await?,
        };
        Ok(())
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoPolicy => "no policy",
            Self::ColdKeys => "a cold key for each job",
            Self::HotKeys => "mutex on 8 hot keys",
            Self::Semaphore => "semaphore 5 on one key",
            Self::TokenBucket => "token bucket on one key, 1,000 a second",
        })
    }
}

/// Does nothing, and tells when it has done so often enough.
#[derive(Clone)]
struct NoOp {
    left: Arc<AtomicUsize>,
    done: Arc<Notify>,
}

impl NoOp {
    fn times(times: usize) -> Self {
        Self {
            left: Arc::new(AtomicUsize::new(times)),
            done: Arc::default(),
        }
    }
}

macro_rules! does_nothing_for {
    ($($job:ty)+) => {
        $(impl JobHandler<$job> for NoOp {
            async fn handle(&self, _: $job, _: &JobContext) -> JobResult {
                if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
                    self.done.notify_one();
                }
                Ok(())
            }
        })+
    };
}

does_nothing_for!(Free OfAColdKey OfAHotKey FiveAtOnce Metered);

fn worker(storage: Storage, handler: &NoOp) -> Outcome<Worker> {
    let worker = Worker::builder(storage)
        .handler::<Free, _>(handler.clone())
        .handler::<OfAColdKey, _>(handler.clone())
        .handler::<OfAHotKey, _>(handler.clone())
        .handler::<FiveAtOnce, _>(handler.clone())
        .handler::<Metered, _>(handler.clone())
        .concurrency(CONCURRENCY);
    Ok(worker.build()?)
}

/// Runs so many jobs until the end of each is recorded.
pub(crate) async fn finish(storage: Storage, jobs: usize) -> Outcome {
    let handler = NoOp::times(jobs);
    let done = Arc::clone(&handler.done);
    let worker = worker(storage, &handler)?;
    Ok(worker
        .run_until(async move { done.notified().await })
        .await?)
}

/// How many statements a worker takes that has nothing to do.
pub(crate) async fn idle(place: &Place, time: Duration) -> Outcome<u64> {
    let storage = place.open().await?;
    let worker = worker(storage.storage(), &NoOp::times(usize::MAX))?;
    let mut statements = 0;
    worker
        .run_until(async {
            SystemClock.sleep(SETTLES_FOR).await;
            let before = storage.cost().statements;
            SystemClock.sleep(time).await;
            statements = storage.cost().statements - before;
        })
        .await?;
    storage.close().await?;
    Ok(statements)
}
