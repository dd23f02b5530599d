//! R85: turns that take effect without an answer, and what is found when a worker reads back what it runs.

use std::sync::atomic::Ordering;
use std::time::Duration;

use warp_runtime::prelude::*;
use warp_runtime::storage::model::JobState;
use warp_tests::{World, start};

use crate::flaky::Flaky;
use crate::jobs::{LongTask, Runner, Stubborn, Task};

/// R85: a turn that was not answered, but took effect, is read back: what it started runs, and what it ended is not ended again.
#[tokio::test(start_paused = true)]
async fn a_turn_that_was_not_answered_is_read_back() {
    let world = World::new();
    let store = Flaky::new(&world);
    let worker = Worker::builder(store.clone()).lease(Duration::from_hours(1));
    store.unanswered.store(1, Ordering::SeqCst);
    let worker = start(worker.handler::<Task, _>(Runner(world.witness.clone())));
    let ids = world.publisher.enqueue_all([Task; 3]).await.unwrap();
    world.until(5.0).await;
    assert_eq!(world.witness.runs().len(), 1, "the start was read back");
    // The turn that ends the first, and starts the second; then the one that ends the second, and so on.
    store.unanswered.store(3, Ordering::SeqCst);
    world.until_all_ended().await;
    assert!(world.seconds() < 35.0, "no time was lost");
    worker.stop().await;
    assert_eq!(store.unanswered.load(Ordering::SeqCst), 0);
    assert_eq!(store.stale.load(Ordering::SeqCst), 0, "known to be written");
    assert_eq!(world.witness.runs().len(), 3);
    assert_eq!(world.witness.most_at_once("task"), 1);
    for id in ids {
        let log = world.log(id).await;
        let ends = log.iter().filter(|line| *line == "succeeded").count();
        let starts = log.iter().filter(|line| line.starts_with("started"));
        assert_eq!((starts.count(), ends), (1, 1), "{log:#?}");
    }
}

/// R83, R85: what a turn started that was not answered before the worker had to stop goes back at once, and was no attempt.
#[tokio::test(start_paused = true)]
async fn what_was_started_unknown_to_a_worker_that_stops_goes_back() {
    let world = World::new();
    let store = Flaky::new(&world);
    let worker = Worker::builder(store.clone()).lease(Duration::from_hours(1));
    let worker = worker.handler::<LongTask, _>(Runner(world.witness.clone()));
    let worker = start(worker.grace(Duration::from_secs(400)));
    let runs = world.publisher.enqueue(LongTask).await.unwrap();
    world.until(1.0).await;
    store.unanswered.store(1, Ordering::SeqCst);
    let id = world.publisher.enqueue(LongTask).await.unwrap();
    while store.unanswered.load(Ordering::SeqCst) > 0 {
        tokio::task::yield_now().await;
    }
    let stopping = tokio::spawn(worker.stop());
    world.until(10.0).await;
    let job = world.job(id).await;
    assert_eq!((job.state, job.attempts), (JobState::Enqueued, 0));
    assert_eq!(world.job(runs).await.state, JobState::Processing);
    stopping.await.unwrap();
    assert_eq!(world.job(runs).await.state, JobState::Succeeded);
    assert_eq!(world.witness.runs().len(), 1);
}

/// R85: now and then a worker sees whether it still has what it runs, and stops the handlers of jobs that it has no more.
#[tokio::test(start_paused = true)]
async fn a_handler_whose_job_was_taken_away_is_stopped() {
    let world = World::new();
    let worker = Worker::builder(world.memory.clone()).lease(Duration::from_secs(30));
    let worker = start(worker.handler::<Task, _>(Stubborn(world.witness.clone())));
    let id = world.publisher.enqueue(Task).await.unwrap();
    world.until(1.0).await;
    let (owner, claim) = world.job(id).await.claim.unwrap();
    world.end_by_hand(owner, claim, id).await;
    world.until(13.0).await;
    let asked = world.witness.of("asked to end");
    assert_eq!(asked.len(), 1, "within a third of the lease");
    assert_eq!(world.witness.of("stubborn").len(), 1);
    assert_eq!(world.job(id).await.state, JobState::Succeeded);
    worker.stop().await;
    assert_eq!(asked[0].ended, None, "it was dropped");
}
