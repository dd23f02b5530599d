//! R80, R81: how a lease is kept, and what becomes of handlers when it cannot be.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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
    may_end: Arc<AtomicBool>,
}

impl JobHandler<Report> for Blocks {
    async fn handle(&self, _: Report, _: &JobContext) -> JobResult {
        self.begun.notify_one();
        while !self.may_end.load(Ordering::SeqCst) {
            std::hint::spin_loop();
            std::thread::yield_now();
        }
        Ok(())
    }
}

/// S03, second variant: a handler that blocks the only thread of its worker's runtime for several leases keeps its job.
#[tokio::test]
async fn a_handler_that_blocks_every_thread_keeps_its_lease() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("jobs.db");
    let lease = Duration::from_secs(3);
    let blocks = Blocks::default();
    let storage = Sqlite::open(&file).await?;
    let ids = Publisher::new(storage.clone())
        .enqueue_all([Report; 2])
        .await?;
    let worker = std::thread::spawn({
        let (blocks, done) = (blocks.clone(), Arc::clone(&blocks.may_end));
        move || -> Result<(), String> {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let text = |error: &dyn Error| error.to_string();
            runtime.map_err(|error| text(&error))?.block_on(async {
                let storage = Sqlite::open(&file).await.map_err(|error| text(&error))?;
                let worker = Worker::builder(storage)
                    .handler::<Report, _>(blocks)
                    .lease(lease);
                let worker = worker.build().map_err(|error| text(&error))?;
                let until_done = async {
                    while !done.load(Ordering::SeqCst) {
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
    // Somebody else looks for the dead all the time, for two leases.
    let began = SystemClock.now();
    while SystemClock.now().since(began) < lease * 2 {
        let swept = storage.sweep(Sweep { max_lost: 3 }).await?;
        assert_eq!(swept.dead, []);
        SystemClock.sleep(lease / 30).await;
    }
    let job = storage.job(ids[0]).await?.ok_or("it is gone")?;
    assert_eq!((job.state, job.lost), (JobState::Processing, 0));
    blocks.may_end.store(true, Ordering::SeqCst);
    worker.join().map_err(|_| "the worker panicked")??;
    let log = storage.log(ids[0]).await?;
    assert!(
        log.iter().any(|line| line.event == Event::Succeeded),
        "{log:#?}"
    );
    Ok(())
}
