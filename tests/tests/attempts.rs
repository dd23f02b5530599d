//! Attempts: retries, failures, panics, and what is none.

#![expect(clippy::panic, reason = "handlers that panic are the subject")]

use std::fmt;
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

#[derive(Debug, Serialize, Deserialize)]
struct Loud;

impl fmt::Display for Loud {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("display on purpose")
    }
}

#[derive(Debug, Serialize, Deserialize, Job)]
#[mutex("loud:{name}")]
struct Unnamable {
    name: Loud,
}

#[derive(Debug, Serialize, Deserialize)]
struct Louder;

impl fmt::Display for Louder {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        std::panic::panic_any(Bomb)
    }
}

#[derive(Debug, Serialize, Deserialize, Job)]
#[mutex("louder:{name}")]
struct MoreUnnamable {
    name: Louder,
}

impl JobHandler<MoreUnnamable> for Runner {
    async fn handle(&self, _: MoreUnnamable, _: &JobContext) -> JobResult {
        Ok(())
    }
}

impl JobHandler<Unnamable> for Runner {
    async fn handle(&self, _: Unnamable, _: &JobContext) -> JobResult {
        Ok(())
    }
}

#[derive(Debug, Serialize, Deserialize, Job)]
#[mutex("long:{name}")]
struct LongKey {
    name: String,
}

impl JobHandler<LongKey> for Runner {
    async fn handle(&self, _: LongKey, _: &JobContext) -> JobResult {
        Ok(())
    }
}

/// R32: a key that cannot be rendered, or comes out too long, fails that job with a clear error; the worker goes on.
#[tokio::test(start_paused = true)]
async fn a_key_that_cannot_be_rendered_fails_that_job_only() {
    let world = World::new();
    let runner = || Runner(world.witness.clone());
    let worker = start(
        world
            .worker()
            .handler::<Unnamable, _>(runner())
            .handler::<MoreUnnamable, _>(runner())
            .handler::<LongKey, _>(runner())
            .handler::<Flaky, _>(runner()),
    );
    let panics = world
        .publisher
        .enqueue(Unnamable { name: Loud })
        .await
        .unwrap();
    let bomb = world
        .publisher
        .enqueue(MoreUnnamable { name: Louder })
        .await
        .unwrap();
    let long = world
        .publisher
        .enqueue(LongKey {
            name: "x".repeat(196),
        })
        .await
        .unwrap();
    let fine = world
        .publisher
        .enqueue(LongKey {
            name: "x".repeat(195),
        })
        .await
        .unwrap();
    let other = world.publisher.enqueue(Flaky { until: 0 }).await.unwrap();
    world.until_all_ended().await;
    worker.stop().await;

    let error = |job: warp_runtime::storage::model::Job| (job.state, job.error.unwrap_or_default());
    let (state, text) = error(world.job(panics).await);
    assert_eq!(
        (state, text.as_str()),
        (
            JobState::Failed,
            "rendering its keys panicked: display on purpose"
        )
    );
    let (state, text) = error(world.job(bomb).await);
    assert_eq!(
        (state, text.as_str()),
        (JobState::Failed, "rendering its keys panicked: no message")
    );
    let (state, text) = error(world.job(long).await);
    assert_eq!(
        (state, text.as_str()),
        (
            JobState::Failed,
            "the key is 201 bytes long; at most 200 are allowed"
        )
    );
    assert_eq!(world.job(fine).await.state, JobState::Succeeded);
    assert_eq!(world.job(other).await.state, JobState::Succeeded);
}

#[derive(Debug, Serialize, Deserialize, Job)]
#[job(name = "Migrated")]
struct Before {
    amount: String,
}

#[derive(Debug, Serialize, Deserialize, Job)]
#[job(name = "Migrated")]
#[mutex("migrated", mode = "wait")]
struct After {
    #[serde(rename = "amount")]
    _amount: u64,
}

impl JobHandler<After> for Runner {
    async fn handle(&self, _: After, _: &JobContext) -> JobResult {
        Ok(())
    }
}

/// A payload that no longer parses fails that job at once, with what serde says; no attempt can help.
#[tokio::test(start_paused = true)]
async fn a_payload_that_no_longer_parses_fails_that_job() {
    let world = World::new();
    let worker = start(
        world
            .worker()
            .handler::<After, _>(Runner(world.witness.clone())),
    );
    let bad = world
        .publisher
        .enqueue(Before {
            amount: "ten".into(),
        })
        .await
        .unwrap();
    let good = world
        .publisher
        .enqueue(After { _amount: 10 })
        .await
        .unwrap();
    world.until_all_ended().await;
    worker.stop().await;

    let job = world.job(bad).await;
    assert_eq!((job.state, job.attempts), (JobState::Failed, 1));
    let error = job.error.unwrap();
    assert!(
        error.starts_with("its payload is no `Migrated`: invalid type"),
        "{error}"
    );
    assert_eq!(
        world.job(good).await.state,
        JobState::Succeeded,
        "its slot was freed"
    );
}

/// A stamp that cannot be read fails that job with a clear error; those behind it go on.
#[tokio::test(start_paused = true)]
async fn a_corrupt_stamp_fails_that_job_only() {
    let world = World::new();
    let worker = start(
        world
            .worker()
            .handler::<Panics, _>(Runner(world.witness.clone()))
            .retry(Retry::attempts(1)),
    );
    let ids = world
        .publisher
        .enqueue_all([Panics, Panics, Panics])
        .await
        .unwrap();
    world.until(0.05).await;
    assert_eq!(world.job(ids[1]).await.state, JobState::Waiting);
    world.memory.overwrite_stamp(ids[1], "{\"v\":1,");
    world.until_all_ended().await;
    worker.stop().await;

    let job = world.job(ids[1]).await;
    assert_eq!((job.state, job.attempts), (JobState::Failed, 0));
    let error = job.error.unwrap();
    assert!(
        error.starts_with("the stamp on the job's row cannot be read"),
        "{error}"
    );
    assert_eq!(world.witness.of("panics").len(), 2);
}

/// R27: a job of a kind that no worker has is left alone, loses nothing, and runs once a worker has it.
#[tokio::test(start_paused = true)]
async fn an_unknown_kind_is_left_alone_until_a_worker_has_it() {
    let world = World::new();
    let runner = || Runner(world.witness.clone());
    let worker = start(world.worker().handler::<Flaky, _>(runner()));
    let unknown = world.publisher.enqueue(FailsOnce).await.unwrap();
    let known = world.publisher.enqueue(Flaky { until: 0 }).await.unwrap();
    world.until(3600.0).await;
    assert_eq!(world.job(known).await.state, JobState::Succeeded);
    let job = world.job(unknown).await;
    assert_eq!(
        (job.state, job.attempts, job.stamp.is_none()),
        (JobState::Enqueued, 0, true)
    );

    let other = start(world.worker().handler::<FailsOnce, _>(runner()));
    world.until_all_ended().await;
    assert_eq!(world.job(unknown).await.state, JobState::Succeeded);
    worker.stop().await;
    other.stop().await;
}
