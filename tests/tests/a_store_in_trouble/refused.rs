//! S09, R85: results that the store refuses.

use std::sync::atomic::Ordering;
use std::time::Duration;

use warp_runtime::prelude::*;
use warp_runtime::storage::model::JobState;
use warp_tests::{World, start};

use crate::flaky::Flaky;
use crate::jobs::{LongTask, Runner};

#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
#[semaphore("refused", limit = 8, mode = "wait")]
struct Spill {
    fails: bool,
}

impl JobHandler<Spill> for Runner {
    async fn handle(&self, job: Spill, ctx: &JobContext) -> JobResult {
        self.0.work("spill", ctx, Duration::from_secs(1)).await;
        if job.fails {
            return Err(JobError::new("a secret"));
        }
        Ok(())
    }
}

/// S09, R85: a result that is refused every time costs its own job an attempt, and nobody else anything: the others of its turn are written, its
/// slot goes to who waits for it, and its worker goes on.
#[tokio::test(start_paused = true)]
async fn a_result_that_is_refused_is_given_up_alone() {
    let world = World::new();
    let store = Flaky::new(&world);
    let worker = Worker::builder(store.clone()).lease(Duration::from_hours(1));
    let worker = worker.handler::<Spill, _>(Runner(world.witness.clone()));
    let ids = (0..16).map(|_| Spill { fails: false });
    let ids = world.publisher.enqueue_all(ids).await.unwrap();
    store.refused.lock().unwrap().insert(ids[5]);
    let worker = start(worker.concurrency(16));
    world.until(2.5).await;
    for &id in &ids {
        let state = world.job(id).await.state;
        assert_eq!(state == JobState::Succeeded, id != ids[5], "{id}: {state}");
    }
    assert!(store.turns.load(Ordering::SeqCst) < 40, "no spinning");
    world.until_all_ended().await;
    let job = world.job(ids[5]).await;
    assert_eq!((job.state, job.lost), (JobState::Failed, 3));
    let log = world.log(ids[5]).await;
    assert!(
        log.iter()
            .any(|line| line.contains("a constraint is violated")),
        "{log:#?}"
    );
    assert_eq!(world.witness.most_at_once("spill"), 8);
    worker.stop().await;
    assert_eq!(store.stale.load(Ordering::SeqCst), 0);
}

/// S09: an attempt that cannot be given up either is not begun again by its worker, and is given up when that can be done: no heartbeat keeps
/// it alive.
#[tokio::test(start_paused = true)]
async fn an_attempt_that_cannot_be_given_up_yet_is_given_up_later() {
    let world = World::new();
    let store = Flaky::new(&world);
    let worker = Worker::builder(store.clone()).lease(Duration::from_secs(30));
    let worker = worker.handler::<LongTask, _>(Runner(world.witness.clone()));
    let worker = worker.handler::<Spill, _>(Runner(world.witness.clone()));
    world.publisher.enqueue(LongTask).await.unwrap();
    let id = world.publisher.enqueue(Spill { fails: false }).await;
    let id = id.unwrap();
    store.refused.lock().unwrap().insert(id);
    store.kept.store(2, Ordering::SeqCst);
    let worker = start(worker);
    world.until(15.0).await;
    assert_eq!(store.kept.load(Ordering::SeqCst), 0);
    assert_eq!(world.job(id).await.state, JobState::Processing);
    store.refused.lock().unwrap().clear();
    world.until(25.0).await;
    let job = world.job(id).await;
    assert_eq!((job.state, job.lost), (JobState::Succeeded, 1));
    assert_eq!(world.witness.of("spill").len(), 2);
    worker.kill().await;
}

/// S09, R85: where it is the text of an error that is refused, the job ends as it would have, without the text.
#[tokio::test(start_paused = true)]
async fn an_error_whose_text_is_refused_is_written_without_it() {
    let world = World::new();
    let store = Flaky::new(&world);
    store.refuses_texts.store(true, Ordering::SeqCst);
    let worker = Worker::builder(store.clone()).lease(Duration::from_hours(1));
    let worker = worker.handler::<Spill, _>(Runner(world.witness.clone()));
    let ids = [true, true, false].map(|fails| Spill { fails });
    let ids = world.publisher.enqueue_all(ids).await.unwrap();
    store.refused.lock().unwrap().insert(ids[0]);
    let worker = start(worker.retry(Retry::attempts(1)));
    world.until_all_ended().await;
    worker.stop().await;
    let ends = async |id| {
        let job = world.job(id).await;
        (job.state, job.lost, job.error.unwrap_or_default())
    };
    let (state, lost, error) = ends(ids[0]).await;
    assert_eq!((state, lost), (JobState::Failed, 0));
    assert!(
        error.contains("refused") && !error.contains("secret"),
        "{error}"
    );
    assert_eq!(ends(ids[1]).await.2, "a secret");
    assert_eq!(ends(ids[2]).await.0, JobState::Succeeded);
}
