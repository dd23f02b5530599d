//! R85: a worker whose file is locked by somebody else for a while.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use warp_runtime::prelude::*;
use warp_runtime::storage::Store;
use warp_runtime::storage::model::{Counter, JobState};
use warp_tests::start;

#[mutex("till", mode = "wait")]
#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
struct Sale;

/// Begins, and ends when it is told to.
#[derive(Clone, Default)]
struct Cashier {
    begins: Arc<Notify>,
    ends: Arc<Notify>,
}

impl JobHandler<Sale> for Cashier {
    async fn handle(&self, _: Sale, _: &JobContext) -> JobResult {
        self.begins.notify_one();
        self.ends.notified().await;
        Ok(())
    }
}

/// The results of that time are written afterwards, once, and the work goes on.
#[tokio::test]
async fn a_worker_outlasts_a_lock_that_is_held_for_longer_than_its_patience()
-> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let options = Sqlite::options(folder.path().join("jobs.db"));
    let storage = options.patience(Duration::from_millis(20)).open().await?;
    let publisher = Publisher::new(storage.clone());
    let cashier = Cashier::default();
    let worker = start(Worker::builder(storage.clone()).handler::<Sale, _>(cashier.clone()));
    let ids = publisher.enqueue_all([Sale; 2]).await?;
    cashier.begins.notified().await;

    let lock = storage.begin().await?;
    cashier.ends.notify_one();
    for _ in 0..5 {
        let Err(error) = publisher.enqueue(Sale).await else {
            return Err("enqueued into a locked file".into());
        };
        let source = error.source().map(ToString::to_string);
        assert!(
            source.is_some_and(|text| text.contains("jobs.db is locked")),
            "{error:?}"
        );
    }
    let job = storage.job(ids[0]).await?;
    assert!(job.is_some_and(|job| job.state == JobState::Processing));
    lock.rollback().await?;

    cashier.begins.notified().await;
    cashier.ends.notify_one();
    worker.stop().await;
    assert_eq!(storage.counters().await?.get(Counter::Succeeded), 2);
    Ok(())
}
