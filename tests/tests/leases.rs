//! R80, R81: how a lease is kept, and what becomes of handlers when it cannot be.

use std::error::Error;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use warp_runtime::prelude::*;
use warp_runtime::storage::Store;
use warp_runtime::storage::clock::{Clock, SystemClock};
use warp_runtime::storage::model::{Event, JobState, Sweep};

#[mutex("report", mode = "wait")]
#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
struct Report;

/// Blocks the thread that it runs on until it is told to end.
#[derive(Clone, Default)]
struct Blocks {
    begun: Arc<Notify>,
    may_end: Arc<(Mutex<bool>, Condvar)>,
}

impl Blocks {
    fn wait(&self) -> Result<(), JobError> {
        let (may_end, changed) = &*self.may_end;
        let guard = may_end.lock().map_err(|_| JobError::new("poisoned"))?;
        let waited = changed.wait_while(guard, |may_end| !*may_end);
        waited.map(drop).map_err(|_| JobError::new("poisoned"))
    }

    fn end(&self) {
        let (may_end, changed) = &*self.may_end;
        *may_end.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
    }

    fn may_end(&self) -> bool {
        let (may_end, _) = &*self.may_end;
        *may_end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl JobHandler<Report> for Blocks {
    async fn handle(&self, _: Report, _: &JobContext) -> JobResult {
        self.begun.notify_one();
        self.wait()
    }
}

/// S03, second variant: a handler that blocks the only thread of its worker's runtime for longer than its lease keeps its job.
#[tokio::test]
async fn a_handler_that_blocks_every_thread_keeps_its_lease() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("jobs.db");
    let lease = Duration::from_secs(6);
    let blocks = Blocks::default();
    let storage = Sqlite::open(&file).await?;
    let ids = Publisher::new(storage.clone())
        .enqueue_all([Report; 2])
        .await?;
    let worker = std::thread::spawn({
        let blocks = blocks.clone();
        move || -> Result<(), String> {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let text = |error: &dyn Error| error.to_string();
            runtime.map_err(|error| text(&error))?.block_on(async {
                let storage = Sqlite::open(&file).await.map_err(|error| text(&error))?;
                let done = blocks.clone();
                let worker = Worker::builder(storage)
                    .handler::<Report, _>(blocks)
                    .lease(lease);
                let worker = worker.build().map_err(|error| text(&error))?;
                let until_done = async {
                    while !done.may_end() {
                        SystemClock.sleep(Duration::from_millis(10)).await;
                    }
                };
                worker
                    .run_until(until_done)
                    .await
                    .map_err(|error| text(&error))
            })
        }
    });
    blocks.begun.notified().await;
    // Somebody else looks for the dead all the time, for longer than the lease.
    let began = SystemClock.now();
    while SystemClock.now().since(began) < lease * 4 / 3 {
        let swept = storage.sweep(Sweep { max_lost: 3 }).await?;
        assert_eq!(swept.dead, []);
        SystemClock.sleep(lease / 30).await;
    }
    let job = storage.job(ids[0]).await?.ok_or("it is gone")?;
    assert_eq!((job.state, job.lost), (JobState::Processing, 0));
    blocks.end();
    worker.join().map_err(|_| "the worker panicked")??;
    let log = storage.log(ids[0]).await?;
    assert!(
        log.iter().any(|line| line.event == Event::Succeeded),
        "{log:#?}"
    );
    Ok(())
}
