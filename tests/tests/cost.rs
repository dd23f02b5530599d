//! What waiting costs: counted, not timed (R45, S17).

use std::time::Duration;

use warp_runtime::prelude::*;
use warp_runtime::storage::model::JobState;
use warp_tests::{Witness, World, start};

struct Runner(Witness);

#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
#[mutex("acct-7", mode = "wait")]
#[rate_limit(
    "partner",
    count = 3,
    per_seconds = 60,
    mode = "wait",
    style = "sliding"
)]
struct BoundByTurns;

impl JobHandler<BoundByTurns> for Runner {
    async fn handle(&self, _: BoundByTurns, ctx: &JobContext) -> JobResult {
        self.0
            .work("bound by turns", ctx, Duration::from_secs(7))
            .await;
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
#[rate_limit("api", count = 10, per_seconds = 60, mode = "wait", style = "sliding")]
struct OfOneRate;

impl JobHandler<OfOneRate> for Runner {
    async fn handle(&self, _: OfOneRate, ctx: &JobContext) -> JobResult {
        self.0.work("one rate", ctx, Duration::ZERO).await;
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
struct Free;

impl JobHandler<Free> for Runner {
    async fn handle(&self, _: Free, ctx: &JobContext) -> JobResult {
        self.0.work("free", ctx, Duration::ZERO).await;
        Ok(())
    }
}

async fn most_writes_of_a_job(world: &World) -> u32 {
    world
        .jobs()
        .await
        .iter()
        .map(|job| world.memory.writes(job.id))
        .max()
        .unwrap_or(0)
}

/// R45: a mutex and a rate that bind by turns, and 1,000 jobs: each row is written at most four times, enqueue and end included, and
/// nothing is judged more often than it starts.
#[tokio::test(start_paused = true)]
async fn two_policies_that_bind_by_turns_cost_four_writes_a_job() {
    let world = World::new();
    world
        .publisher
        .enqueue_all([BoundByTurns; 1_000])
        .await
        .unwrap();
    let worker = start(
        world
            .worker()
            .handler::<BoundByTurns, _>(Runner(world.witness.clone())),
    );
    world.until_all_ended().await;
    worker.stop().await;

    assert_eq!(world.count(JobState::Succeeded).await, 1_000);
    assert_eq!(world.witness.most_at_once("bound"), 1);
    assert_eq!(world.witness.busiest_window(Duration::from_secs(60)), 3);
    assert_eq!(most_writes_of_a_job(&world).await, 4);
    let operations = world.memory.operations();
    assert!(operations.candidates < 1_100, "{operations:?}");
    assert!(
        operations.lanes < 3_000,
        "a lane is judged about once a start: {operations:?}"
    );
    assert!(operations.lane_writes < 4_000, "{operations:?}");
}

/// R45, R64: 1,000 waiters of one rate, drained over a hundred windows.
#[tokio::test(start_paused = true)]
async fn a_thousand_waiters_of_one_rate_cost_four_writes_each() {
    let world = World::new();
    world
        .publisher
        .enqueue_all([OfOneRate; 1_000])
        .await
        .unwrap();
    let worker = start(
        world
            .worker()
            .handler::<OfOneRate, _>(Runner(world.witness.clone()))
            .concurrency(16),
    );
    world.until_all_ended().await;
    worker.stop().await;

    assert!(
        (5_940.0..5_942.0).contains(world.witness.starts().last().unwrap()),
        "a hundred windows"
    );
    assert_eq!(most_writes_of_a_job(&world).await, 4);
    let operations = world.memory.operations();
    assert!(
        operations.lanes < 400,
        "a few judgements a window: {operations:?}"
    );
}

/// S17: 2,000 jobs behind ten a minute, on four workers: forty start by t = 180, and the store is close to idle in between.
#[tokio::test(start_paused = true)]
async fn a_large_backlog_behind_a_small_limit_is_cheap_to_keep() {
    let world = World::new();
    world
        .publisher
        .enqueue_all([OfOneRate; 2_000])
        .await
        .unwrap();
    let worker = || {
        let runner = || Runner(world.witness.clone());
        world
            .worker()
            .handler::<OfOneRate, _>(runner())
            .handler::<Free, _>(runner())
            .concurrency(10)
    };
    let workers: Vec<_> = (0..4).map(|_| start(worker())).collect();
    world.until(30.0).await;
    let intake = world.memory.operations();
    assert!(intake.job_writes <= 2_000 + 2_000 + 2 * 10, "{intake:?}");
    world.publisher.enqueue(Free).await.unwrap();
    world.until(31.0).await;
    assert_eq!(world.witness.of("free").len(), 1);
    world.until(181.0).await;
    assert_eq!(world.witness.of("one rate").len(), 40);

    let operations = world.memory.operations();
    assert!(
        operations.lanes - intake.lanes < 100,
        "{operations:?}, after the intake {intake:?}"
    );
    assert!(
        operations.turns - intake.turns < 400,
        "{operations:?}, after the intake {intake:?}"
    );
    for worker in workers {
        worker.stop().await;
    }
}
