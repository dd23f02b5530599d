//! R80, R81: a store that has declared the worker dead.

use warp_runtime::storage::Store;
use warp_runtime::storage::model::JobState;
use warp_tests::{World, start};

use crate::jobs::{Runner, Task};

/// R80, R81: a worker that was declared dead stops its handlers, and begins anew; nothing is recorded twice.
#[tokio::test(start_paused = true)]
async fn a_worker_that_was_declared_dead_begins_anew() {
    let world = World::new();
    let worker = world
        .worker()
        .handler::<Task, _>(Runner(world.witness.clone()));
    let running = start(worker);
    let id = world.publisher.enqueue(Task).await.unwrap();
    world.until(5.0).await;
    let (dead, _) = world.job(id).await.claim.unwrap();
    world.memory.deregister(dead).await.unwrap();
    world.until_all_ended().await;
    running.stop().await;

    let runs = world.witness.runs();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0].ended, None, "its handler was stopped");
    let job = world.job(id).await;
    assert_eq!(job.state, JobState::Succeeded);
    let log = world.log(id).await;
    assert_eq!(
        log.iter().filter(|line| *line == "succeeded").count(),
        1,
        "{log:#?}"
    );
}
