//! Attempts: retries, failures, panics, and what is none.

#![expect(clippy::panic, reason = "handlers that panic are the subject")]

use std::time::Duration;

use warp_runtime::prelude::*;
use warp_runtime::storage::Store;
use warp_runtime::storage::model::{Counter, JobState};
use warp_tests::{Witness, World, start};

struct Runner(Witness);

/// Fails as long as the attempt is below `until`.
#[derive(Debug, Serialize, Deserialize, Job)]
struct Flaky {
    until: u32,
}

impl JobHandler<Flaky> for Runner {
    async fn handle(&self, job: Flaky, ctx: &JobContext) -> JobResult {
        self.0.work("flaky", ctx, Duration::ZERO).await;
        if ctx.attempt() < job.until {
            Err(JobError::new("not yet"))
        } else {
            Ok(())
        }
    }
}

/// R110: an `Err` is retried with back-off until it succeeds.
#[tokio::test(start_paused = true)]
async fn a_failed_attempt_is_retried_with_back_off() {
    let world = World::new();
    let retry = Retry::attempts(5).with_delays(Duration::from_secs(10), Duration::from_secs(15));
    let worker = start(
        world
            .worker()
            .handler::<Flaky, _>(Runner(world.witness.clone()))
            .retry(retry),
    );
    let id = world.publisher.enqueue(Flaky { until: 4 }).await.unwrap();
    world.until_all_ended().await;
    worker.stop().await;

    let starts: Vec<f64> = world.witness.starts().iter().map(|at| at.round()).collect();
    assert_eq!(
        starts,
        [0.0, 10.0, 25.0, 40.0],
        "10 s, then 20 s capped to 15 s"
    );
    let job = world.job(id).await;
    assert_eq!((job.state, job.attempts), (JobState::Succeeded, 4));
    let log = world.log(id).await;
    assert_eq!(log.len(), 1 + 4 + 3 + 1, "{log:#?}");
    assert_eq!(log.last().map(String::as_str), Some("succeeded"));
}

/// R110: after the last attempt the job is `Failed` and says why.
#[tokio::test(start_paused = true)]
async fn the_last_failed_attempt_fails_the_job() {
    let world = World::new();
    let worker = start(
        world
            .worker()
            .handler::<Flaky, _>(Runner(world.witness.clone()))
            .retry(Retry::attempts(2)),
    );
    let id = world
        .publisher
        .enqueue(Flaky { until: u32::MAX })
        .await
        .unwrap();
    world.until_all_ended().await;
    worker.stop().await;

    let job = world.job(id).await;
    assert_eq!(
        (job.state, job.attempts, job.error.as_deref()),
        (JobState::Failed, 2, Some("not yet"))
    );
    let counters = world.memory.counters().await.unwrap();
    assert_eq!(
        (
            counters.get(Counter::Failed),
            counters.get(Counter::Retried)
        ),
        (1, 1)
    );
}

#[derive(Debug, Serialize, Deserialize, Job)]
#[rate_limit("s16-b", count = 1, per_seconds = 2, mode = "wait", style = "sliding")]
struct FailsOnce;

impl JobHandler<FailsOnce> for Runner {
    async fn handle(&self, _: FailsOnce, ctx: &JobContext) -> JobResult {
        self.0.work("fails once", ctx, Duration::ZERO).await;
        if ctx.attempt() == 1 {
            Err(JobError::new("once"))
        } else {
            Ok(())
        }
    }
}

/// S16 (b), R60: every attempt is a start; first attempts and retries together keep the rate.
#[tokio::test(start_paused = true)]
async fn a_retry_is_a_new_start() {
    let world = World::new();
    let retry =
        Retry::attempts(2).with_delays(Duration::from_millis(100), Duration::from_millis(100));
    let worker = start(
        world
            .worker()
            .handler::<FailsOnce, _>(Runner(world.witness.clone()))
            .retry(retry),
    );
    world
        .publisher
        .enqueue_all((0..4).map(|_| FailsOnce))
        .await
        .unwrap();
    world.until_all_ended().await;
    worker.stop().await;

    assert_eq!(world.witness.runs().len(), 8);
    assert_eq!(world.witness.busiest_window(Duration::from_secs(2)), 1);
    assert_eq!(world.count(JobState::Succeeded).await, 4);
}

#[derive(Debug, Serialize, Deserialize, Job)]
#[mutex("panics", mode = "wait")]
struct Panics;

impl JobHandler<Panics> for Runner {
    async fn handle(&self, _: Panics, ctx: &JobContext) -> JobResult {
        self.0.work("panics", ctx, Duration::from_millis(100)).await;
        panic!("on purpose, attempt {}", ctx.attempt());
    }
}

/// S01 (1), (2), R52: a panic is a failure; it frees the slot at once, and the worker goes on.
#[tokio::test(start_paused = true)]
async fn a_panic_fails_the_attempt_and_frees_the_slot() {
    let world = World::new();
    let runner = || Runner(world.witness.clone());
    let worker = start(
        world
            .worker()
            .handler::<Panics, _>(runner())
            .handler::<Flaky, _>(runner())
            .retry(Retry::attempts(1)),
    );
    let ids = world.publisher.enqueue_all([Panics, Panics]).await.unwrap();
    world.until_all_ended().await;
    let runs = world.witness.of("panics");
    assert_eq!(runs.len(), 2);
    let gap = runs[1].began.since(runs[0].ended.unwrap());
    assert!(
        gap < Duration::from_millis(10),
        "the next one began {gap:?} after the panic"
    );
    assert_eq!(
        world.job(ids[0]).await.error.as_deref(),
        Some("panicked: on purpose, attempt 1")
    );

    let id = world.publisher.enqueue(Flaky { until: 0 }).await.unwrap();
    world.until_all_ended().await;
    assert_eq!(
        world.job(id).await.state,
        JobState::Succeeded,
        "the worker takes further jobs"
    );
    worker.stop().await;
}

/// Panics again when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped on purpose");
    }
}

#[derive(Debug, Serialize, Deserialize, Job)]
struct Explosive {
    as_payload: bool,
}

impl JobHandler<Explosive> for Runner {
    async fn handle(&self, job: Explosive, ctx: &JobContext) -> JobResult {
        self.0.work("explosive", ctx, Duration::ZERO).await;
        if job.as_payload {
            std::panic::panic_any(Bomb);
        }
        let _held = Bomb;
        Ok(())
    }
}

/// R52: also where what was thrown, or what the handler held, panics while it is dropped. It is a failed attempt, not an endless one.
#[tokio::test(start_paused = true)]
async fn a_panic_while_dropping_is_a_failed_attempt() {
    let world = World::new();
    let worker = world
        .worker()
        .handler::<Explosive, _>(Runner(world.witness.clone()));
    let worker = start(worker.retry(Retry::attempts(2)));
    let ids = [
        world
            .publisher
            .enqueue(Explosive { as_payload: true })
            .await
            .unwrap(),
        world
            .publisher
            .enqueue(Explosive { as_payload: false })
            .await
            .unwrap(),
    ];
    world.until_all_ended().await;
    worker.stop().await;
    for id in ids {
        let job = world.job(id).await;
        assert_eq!(
            (job.state, job.attempts),
            (JobState::Failed, 2),
            "{:?}",
            job.error
        );
    }
    assert_eq!(world.witness.runs().len(), 4);
}

/// R23: how often to retry is not stamped; it is what the worker of each attempt says.
#[tokio::test(start_paused = true)]
async fn the_worker_wide_retry_is_read_live() {
    let world = World::new();
    let worker = |attempts| {
        let retry =
            Retry::attempts(attempts).with_delays(Duration::from_secs(60), Duration::from_secs(60));
        start(
            world
                .worker()
                .handler::<Flaky, _>(Runner(world.witness.clone()))
                .retry(retry),
        )
    };
    let generous = worker(10);
    let id = world
        .publisher
        .enqueue(Flaky { until: u32::MAX })
        .await
        .unwrap();
    world.until(1.0).await;
    generous.stop().await;
    let job = world.job(id).await;
    assert_eq!(job.state, JobState::Scheduled);
    assert!(job.stamp.unwrap().unwrap().is_none());
    let strict = worker(2);
    world.until_all_ended().await;
    strict.stop().await;
    let job = world.job(id).await;
    assert_eq!((job.state, job.attempts), (JobState::Failed, 2));
}
