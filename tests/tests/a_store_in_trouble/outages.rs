//! R81, R85, R86: a store that is down for a while.

use std::sync::atomic::Ordering;
use std::time::Duration;

use warp_runtime::prelude::*;
use warp_runtime::storage::model::JobState;
use warp_tests::{World, seconds, start};

use crate::flaky::Flaky;
use crate::jobs::{LongTask, Runner, Stubborn, Task};

/// R85: while the store fails the worker neither ends nor spins, and no result is lost.
#[tokio::test(start_paused = true)]
async fn a_store_that_fails_for_a_while_is_asked_again_with_back_off() {
    let world = World::new();
    let store = Flaky::new(&world);
    let worker = Worker::builder(store.clone()).lease(Duration::from_hours(1));
    let worker = start(worker.handler::<Task, _>(Runner(world.witness.clone())));
    let ids = world.publisher.enqueue_all([Task, Task]).await.unwrap();
    world.until(5.0).await;
    store.failures.store(12, Ordering::SeqCst);
    let before = store.turns.load(Ordering::SeqCst);
    world.until(29.0).await;
    assert_eq!(
        world.job(ids[0]).await.state,
        JobState::Processing,
        "its result could not be written yet"
    );
    let tried = store.turns.load(Ordering::SeqCst) - before;
    assert!((6..=12).contains(&tried), "{tried} turns in 19 s");

    world.until_all_ended().await;
    worker.stop().await;
    assert_eq!(world.count(JobState::Succeeded).await, 2);
    assert_eq!(world.witness.runs().len(), 2);
    assert_eq!(world.witness.most_at_once("task"), 1);
}

/// R81: a worker that cannot renew its lease asks its handlers to end at half of it and drops them at two thirds, before anybody else may begin.
/// Their jobs go back to the queue, and that is no attempt.
#[tokio::test(start_paused = true)]
async fn handlers_end_before_a_lease_that_cannot_be_renewed_does() {
    let world = World::new();
    let store = Flaky::new(&world);
    let worker = Worker::builder(store.clone()).lease(Duration::from_secs(60));
    let worker = start(worker.handler::<Task, _>(Stubborn(world.witness.clone())));
    let id = world.publisher.enqueue(Task).await.unwrap();
    world.until(45.0).await;
    store.is_down.store(true, Ordering::SeqCst);
    world.until(85.0).await;
    let asked = world.witness.of("asked to end");
    assert_eq!(asked.len(), 1);
    let at = seconds(asked[0].began);
    assert!((65.0..72.0).contains(&at), "asked at {at}");
    store.is_down.store(false, Ordering::SeqCst);
    world.until(95.0).await;
    let runs = world.witness.of("stubborn");
    assert_eq!(runs.len(), 2, "{runs:#?}");
    assert_eq!(runs[0].ended, None, "it was dropped");
    assert_eq!((runs[1].job, runs[1].attempt), (id, 1));
    let log = world.log(id).await;
    let events: Vec<&str> = log
        .iter()
        .filter_map(|line| line.split([' ', ',']).next())
        .collect();
    assert_eq!(
        events,
        ["enqueued", "started", "returned", "started"],
        "none started in vain"
    );

    // And those that started after an outage end in the next one.
    store.is_down.store(true, Ordering::SeqCst);
    world.until(150.0).await;
    assert_eq!(world.witness.of("asked to end").len(), 2);
    worker.kill().await;
}

/// R81: one that can renew it again in time is not disturbed.
#[tokio::test(start_paused = true)]
async fn a_short_outage_stops_no_handler() {
    let world = World::new();
    let store = Flaky::new(&world);
    let worker = Worker::builder(store.clone()).lease(Duration::from_secs(60));
    let worker = start(worker.handler::<Task, _>(Stubborn(world.witness.clone())));
    world.publisher.enqueue(Task).await.unwrap();
    for outage in 0..10 {
        let from = f64::from(outage) * 60.0;
        world.until(from + 45.0).await;
        store.is_down.store(true, Ordering::SeqCst);
        world.until(from + 60.0).await;
        store.is_down.store(false, Ordering::SeqCst);
    }
    assert_eq!(world.witness.of("stubborn").len(), 1);
    assert_eq!(world.witness.of("asked to end").len(), 0);
    worker.kill().await;
}

/// R86: while a store was down for all of them workers were silent for longer than their lease; none is declared dead for it, by the others
/// or by one that has just begun.
#[tokio::test(start_paused = true)]
async fn workers_whose_store_was_down_do_not_bury_each_other() {
    let world = World::new();
    let store = Flaky::new(&world);
    let worker = || {
        let worker = Worker::builder(store.clone()).lease(Duration::from_secs(6));
        let worker = worker.handler::<LongTask, _>(Runner(world.witness.clone()));
        start(worker.concurrency(1))
    };
    let mut workers = vec![worker(), worker()];
    let ids = world.publisher.enqueue_all([LongTask; 2]).await.unwrap();
    world.until(5.0).await;
    assert_eq!(world.count(JobState::Processing).await, 2);
    store.is_down.store(true, Ordering::SeqCst);
    world.until(65.0).await;
    workers.push(worker());
    store.is_down.store(false, Ordering::SeqCst);
    world.until_all_ended().await;
    for worker in workers {
        worker.stop().await;
    }
    for id in ids {
        let job = world.job(id).await;
        assert_eq!((job.state, job.lost), (JobState::Succeeded, 0));
    }
    let dropped = world.witness.runs();
    let dropped = dropped.iter().filter(|run| run.ended.is_none());
    assert_eq!(dropped.count(), 2, "nobody could know (R81)");
}
