//! What work costs in a SQLite file: statements are counted, `BEGIN` and `COMMIT` included, and nothing is timed (R45, R47).

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;
use tokio::sync::Notify;
use warp_runtime::prelude::*;
use warp_runtime::storage::Store;
use warp_runtime::storage::model::Counter;
use warp_runtime::storage::sqlite::Synchronous;

type Outcome = Result<(), Box<dyn Error>>;

const RUNNING: usize = 32;

#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
struct Free;

#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
#[mutex("account:{number}", mode = "wait")]
struct OfItsOwnKey {
    number: usize,
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

    fn run(&self) {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.done.notify_one();
        }
    }
}

impl JobHandler<Free> for NoOp {
    async fn handle(&self, _: Free, _: &JobContext) -> JobResult {
        self.run();
        Ok(())
    }
}

impl JobHandler<OfItsOwnKey> for NoOp {
    async fn handle(&self, _: OfItsOwnKey, _: &JobContext) -> JobResult {
        self.run();
        Ok(())
    }
}

async fn a_file() -> Result<(Sqlite, TempDir), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let options = Sqlite::options(folder.path().join("jobs.db"));
    Ok((
        options.synchronous(Synchronous::Normal).open().await?,
        folder,
    ))
}

const JOBS: usize = 10_000;

/// Runs [`JOBS`] jobs until all of them are recorded. Returns how many statements that took.
async fn drain(storage: &Sqlite) -> Result<u64, Box<dyn Error>> {
    let handler = NoOp::times(JOBS);
    let done = Arc::clone(&handler.done);
    let worker = Worker::builder(storage.clone())
        .handler::<Free, _>(handler.clone())
        .handler::<OfItsOwnKey, _>(handler)
        .concurrency(RUNNING)
        .build()?;
    let before = storage.statistics();
    worker
        .run_until(async move { done.notified().await })
        .await?;
    let after = storage.statistics();
    let succeeded = storage.counters().await?.get(Counter::Succeeded);
    assert_eq!(succeeded, JOBS as u64);
    Ok(after.statements - before.statements)
}

#[tokio::test]
async fn a_job_without_policy_costs_at_most_half_a_statement() -> Outcome {
    let (storage, _folder) = a_file().await?;
    let jobs = [Free; JOBS];
    Publisher::new(storage.clone()).enqueue_all(jobs).await?;
    let statements = drain(&storage).await?;
    assert!(statements * 10 <= JOBS as u64 * 5, "{statements}");
    Ok(())
}

#[tokio::test]
async fn a_job_whose_policy_lets_it_run_costs_little_more() -> Outcome {
    let (storage, _folder) = a_file().await?;
    let jobs = (0..JOBS).map(|number| OfItsOwnKey { number });
    Publisher::new(storage.clone()).enqueue_all(jobs).await?;
    let statements = drain(&storage).await?;
    assert!(statements * 10 <= JOBS as u64 * 6, "{statements}");
    Ok(())
}
