//! S01, S05: jobs that are cancelled.

use std::time::Duration;

use warp_runtime::Cancelled;
use warp_runtime::prelude::*;
use warp_runtime::storage::model::JobState;
use warp_tests::{Witness, World, seconds, start};

#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
#[semaphore("two", limit = 2)]
struct Task {
    takes: u64,
}

/// Ends when its time has come, whatever it is told.
struct Deaf(Witness);

impl JobHandler<Task> for Deaf {
    async fn handle(&self, task: Task, ctx: &JobContext) -> JobResult {
        let takes = Duration::from_secs(task.takes);
        self.0.work("task", ctx, takes).await;
        Ok(())
    }
}

/// Ends when it is told to.
struct Obedient(Witness);

impl JobHandler<Task> for Obedient {
    async fn handle(&self, _: Task, ctx: &JobContext) -> JobResult {
        self.0.watch("task", ctx, ctx.cancelled()).await;
        Err(JobError::new("told to stop"))
    }
}

/// S05: exactly one starts for each job that was stopped; a waiter that is cancelled frees nothing, nor does a second cancel.
#[tokio::test(start_paused = true)]
async fn cancelling_lets_in_as_many_as_were_stopped() {
    let world = World::new();
    let handler = Deaf(world.witness.clone());
    let worker = start(world.worker().handler::<Task, _>(handler));
    let ids = world
        .publisher
        .enqueue_all([Task { takes: 100 }; 6])
        .await
        .unwrap();
    world.until(5.0).await;
    assert_eq!(
        world.publisher.cancel(ids[0]).await.unwrap(),
        Cancelled::Stopping
    );
    assert_eq!(
        world.publisher.cancel(ids[3]).await.unwrap(),
        Cancelled::Deleted
    );
    world.until(10.0).await;
    assert_eq!(
        world.publisher.cancel(ids[0]).await.unwrap(),
        Cancelled::Ended
    );
    world.until_all_ended().await;
    worker.stop().await;

    let runs = world.witness.runs();
    assert_eq!(runs[0].ended, None, "it was dropped");
    let starts: Vec<f64> = runs.iter().map(|run| seconds(run.began)).collect();
    assert_eq!(runs.len(), 5, "{ids:?}: {runs:#?}");
    let after_notice = starts[2];
    assert!(
        (6.0..6.2).contains(&after_notice),
        "a second after it was told: {starts:?}"
    );
    assert!(starts[3] >= 100.0 && starts[4] >= 100.0, "{starts:?}");
    for (id, state) in ids.iter().zip([
        JobState::Deleted,
        JobState::Succeeded,
        JobState::Succeeded,
        JobState::Deleted,
    ]) {
        assert_eq!(world.job(*id).await.state, state);
    }
}

/// S01: a handler that awaits what never comes is told, and its slot is free when it has ended, though the worker has no room to look for
/// more.
#[tokio::test(start_paused = true)]
async fn a_worker_without_room_stops_what_was_cancelled() {
    let world = World::new();
    let handler = Obedient(world.witness.clone());
    let worker = world.worker().handler::<Task, _>(handler).concurrency(1);
    let worker = start(worker);
    let ids = world
        .publisher
        .enqueue_all([Task { takes: 0 }; 2])
        .await
        .unwrap();
    world.until(5.0).await;
    world.publisher.cancel(ids[0]).await.unwrap();
    world.until(5.2).await;
    let runs = world.witness.runs();
    assert_eq!(runs.len(), 2, "the next one began at once: {runs:#?}");
    assert!(runs[0].ended.is_some(), "it ended by itself");
    assert_eq!(world.job(ids[0]).await.state, JobState::Deleted);
    assert_eq!(world.memory.leftovers().0, 1, "slots");

    world.publisher.cancel(ids[1]).await.unwrap();
    world.until_all_ended().await;
    worker.stop().await;
    assert_eq!(world.memory.leftovers(), (0, 0));
    assert_eq!(world.witness.runs().len(), 2, "none is tried again");
}

/// A worker that is shutting down stops what is cancelled meanwhile, and need not wait for it until its grace time is over.
#[tokio::test(start_paused = true)]
async fn a_worker_that_stops_hears_of_what_is_cancelled() {
    let world = World::new();
    let handler = Obedient(world.witness.clone());
    let worker = world.worker().handler::<Task, _>(handler);
    let worker = start(worker.grace(Duration::from_secs(60)));
    let id = world.publisher.enqueue(Task { takes: 0 }).await.unwrap();
    world.until(5.0).await;
    let cancel = async {
        world.until(10.0).await;
        world.publisher.cancel(id).await.unwrap();
    };
    tokio::join!(worker.stop(), cancel);
    assert!(world.seconds() < 11.0, "{}", world.seconds());
    assert_eq!(world.job(id).await.state, JobState::Deleted);
}
