//! Rates, judged by the admission instant on a moved clock.

use std::time::Duration;

use warp_runtime::prelude::*;
use warp_runtime::storage::Store;
use warp_runtime::storage::model::{Counter, JobState};
use warp_tests::{DAWN, Witness, World, busiest, seconds, start};

struct Runner(Witness);

macro_rules! jobs {
    ($($(#[$policy:meta])* $name:ident),* $(,)?) => {$(
        $(#[$policy])*
        #[derive(Debug, Serialize, Deserialize, Job)]
        struct $name;

        impl JobHandler<$name> for Runner {
            async fn handle(&self, _: $name, ctx: &JobContext) -> JobResult {
                self.0.work(stringify!($name), ctx, Duration::ZERO).await;
                Ok(())
            }
        }
    )*};
}

jobs!(
    #[rate_limit(
        "s12-sliding",
        count = 10,
        per_seconds = 60,
        mode = "wait",
        style = "sliding"
    )]
    Sliding,
    #[rate_limit(
        "s12-fixed",
        count = 10,
        per_seconds = 60,
        mode = "wait",
        style = "fixed"
    )]
    Fixed,
    #[rate_limit(
        "s13-sliding",
        count = 10,
        per_seconds = 60,
        mode = "skip",
        style = "sliding"
    )]
    PingSliding,
    #[rate_limit("s13-fixed", count = 10, per_seconds = 60)]
    PingFixed,
    #[rate_limit(
        "s13-bucket",
        count = 10,
        per = "1m",
        mode = "skip",
        style = "token_bucket"
    )]
    PingBucket,
    #[rate_limit(
        "s11-c",
        count = 1,
        per_seconds = 604_800,
        mode = "wait",
        style = "token_bucket"
    )]
    Weekly,
    #[rate_limit(
        "s11-d",
        count = 3,
        per_seconds = 7,
        mode = "wait",
        style = "token_bucket"
    )]
    Odd,
    #[rate_limit("s16-a", count = 1, per_seconds = 2, mode = "wait", style = "sliding")]
    OneInTwo,
    #[rate_limit("backlog", count = 5, per = "500ms", mode = "wait", style = "fixed")]
    Backlog,
);

/// S12: ten jobs just before a full minute and ten just after it, on three workers.
#[tokio::test(start_paused = true)]
async fn sliding_never_lets_more_than_count_into_any_window_and_fixed_into_any_minute() {
    let world = World::new();
    let runner = || Runner(world.witness.clone());
    let workers: Vec<_> = (0..3)
        .map(|_| {
            start(
                world
                    .worker()
                    .handler::<Sliding, _>(runner())
                    .handler::<Fixed, _>(runner()),
            )
        })
        .collect();
    for at in [59.9, 60.1] {
        world.until(at).await;
        world
            .publisher
            .enqueue_all((0..10).map(|_| Sliding))
            .await
            .unwrap();
        world
            .publisher
            .enqueue_all((0..10).map(|_| Fixed))
            .await
            .unwrap();
    }
    world.until_all_ended().await;
    for worker in workers {
        worker.stop().await;
    }

    let starts = |label| {
        world
            .witness
            .of(label)
            .iter()
            .map(|run| run.admitted_at)
            .collect::<Vec<_>>()
    };
    let sliding = starts("Sliding");
    assert_eq!(busiest(&sliding, Duration::from_secs(60)), 10);
    for (first, second) in sliding[..10].iter().zip(&sliding[10..]) {
        let apart = second.since(*first).as_secs_f64();
        assert!((60.0..60.1).contains(&apart), "{apart} s apart");
    }
    let fixed: Vec<f64> = starts("Fixed").into_iter().map(seconds).collect();
    assert_eq!(fixed.iter().filter(|at| **at < 60.0).count(), 10);
    assert!(
        fixed.iter().all(|at| *at < 60.2),
        "20 within 0.2 s across the boundary is right: {fixed:?}"
    );
}

/// S13: a job every half second for five minutes, under ten a minute in skip mode.
#[tokio::test(start_paused = true)]
async fn being_turned_away_costs_nothing() {
    let world = World::new();
    let runner = || Runner(world.witness.clone());
    let worker = start(
        world
            .worker()
            .handler::<PingSliding, _>(runner())
            .handler::<PingFixed, _>(runner())
            .handler::<PingBucket, _>(runner()),
    );
    for half_second in 0..600 {
        world.until(f64::from(half_second) / 2.0).await;
        world.publisher.enqueue(PingSliding).await.unwrap();
        world.publisher.enqueue(PingFixed).await.unwrap();
        world.publisher.enqueue(PingBucket).await.unwrap();
    }
    world.until_all_ended().await;
    worker.stop().await;

    for label in ["PingSliding", "PingFixed"] {
        let starts: Vec<f64> = world
            .witness
            .of(label)
            .iter()
            .map(|run| seconds(run.admitted_at))
            .collect();
        assert_eq!(starts.len(), 50, "{label}");
        for minute in 0..5 {
            let first = f64::from(minute) * 60.0;
            let in_minute: Vec<_> = starts
                .iter()
                .filter(|at| (first..first + 60.0).contains(*at))
                .collect();
            assert_eq!(in_minute.len(), 10, "{label} in minute {minute}");
            assert!(
                *in_minute[9] < first + 5.0,
                "{label}: the first ones run right at the beginning"
            );
        }
    }
    let bucket = world.witness.of("PingBucket").len();
    assert!(
        (59..=60).contains(&bucket),
        "{bucket} of the token bucket ran"
    );
    let counters = world.memory.counters().await.unwrap();
    assert_eq!(
        counters.get(Counter::DeletedRatelimit),
        550 + 550 + 600 - bucket as u64
    );
    assert_eq!(counters.deleted(), counters.get(Counter::DeletedRatelimit));
    assert_eq!(counters.requeued(), 0);
}

/// S11 (c): one a week; the second is due seven days later, to the second.
#[tokio::test(start_paused = true)]
async fn one_a_week_starts_a_week_later() {
    let world = World::new();
    let worker = start(
        world
            .worker()
            .handler::<Weekly, _>(Runner(world.witness.clone())),
    );
    world.publisher.enqueue_all([Weekly, Weekly]).await.unwrap();
    world.until(1.0).await;
    let waiting: Vec<_> = world
        .jobs()
        .await
        .into_iter()
        .filter_map(|job| job.waiting)
        .collect();
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].next_at.map(seconds), Some(604_800.0));
    world.until(604_800.5).await;
    assert_eq!(world.witness.starts().len(), 2);
    worker.stop().await;
}

/// S11 (d): three per seven seconds under constant demand for 70 s: three at once and thirty more, without drift.
#[tokio::test(start_paused = true)]
async fn an_odd_ratio_does_not_drift() {
    let world = World::new();
    let worker = start(
        world
            .worker()
            .handler::<Odd, _>(Runner(world.witness.clone())),
    );
    world
        .publisher
        .enqueue_all((0..60).map(|_| Odd))
        .await
        .unwrap();
    world.until(70.002).await;
    let starts = world.witness.starts();
    assert_eq!(starts.len(), 33);
    for (number, start) in starts.iter().skip(2).enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let due = number as f64 * 7.0 / 3.0;
        assert!(
            (due..due + 0.002).contains(start),
            "start {number} at {start}, due at {due}"
        );
    }
    worker.kill().await;
}

/// S16 (a): twelve jobs under one start per two seconds: each waits, none of it is an attempt.
#[tokio::test(start_paused = true)]
async fn waiting_is_not_an_attempt() {
    let world = World::new();
    let worker = start(
        world
            .worker()
            .handler::<OneInTwo, _>(Runner(world.witness.clone()))
            .retry(Retry::attempts(1)),
    );
    world
        .publisher
        .enqueue_all((0..12).map(|_| OneInTwo))
        .await
        .unwrap();
    world.until_all_ended().await;
    worker.stop().await;

    assert_eq!(world.count(JobState::Succeeded).await, 12);
    assert!(
        world
            .jobs()
            .await
            .iter()
            .all(|job| job.attempts == 1 && job.error.is_none())
    );
    assert!(world.witness.runs().iter().all(|run| run.attempt == 1));
    let last = world.witness.starts()[11];
    assert!((22.0..22.2).contains(&last), "the last one at {last}");
    let counters = world.memory.counters().await.unwrap();
    assert_eq!(counters.get(Counter::Failed), 0);
    assert_eq!(counters.get(Counter::RequeuedRatelimit), 11);
}

/// R64: a backlog drains at the policy's rate, as many at each instant as there are tokens.
#[tokio::test(start_paused = true)]
async fn a_backlog_drains_at_the_policys_rate() {
    let world = World::new();
    let worker = start(
        world
            .worker()
            .handler::<Backlog, _>(Runner(world.witness.clone()))
            .concurrency(3),
    );
    world
        .publisher
        .enqueue_all((0..1_000).map(|_| Backlog))
        .await
        .unwrap();
    world.until_all_ended().await;
    worker.stop().await;

    for (number, run) in world.witness.runs().iter().enumerate() {
        let due = DAWN.plus(Duration::from_millis(500) * u32::try_from(number / 5).unwrap());
        let late = run.admitted_at.since(due);
        assert!(
            run.admitted_at >= due && late < Duration::from_millis(20),
            "job {number} was {late:?} late"
        );
    }
    assert!(
        world
            .jobs()
            .await
            .iter()
            .all(|job| world.memory.writes(job.id) <= 4),
        "R45"
    );
}

#[derive(Debug, Serialize, Deserialize, Job)]
#[rate_limit("slow", count = 1, per_seconds = 1, mode = "wait", style = "sliding")]
struct TenMinutes;

impl JobHandler<TenMinutes> for Runner {
    async fn handle(&self, _: TenMinutes, ctx: &JobContext) -> JobResult {
        self.0
            .work("ten minutes", ctx, Duration::from_secs(600))
            .await;
        Ok(())
    }
}

/// R65: a job that runs for ten minutes blocks nobody's token.
#[tokio::test(start_paused = true)]
async fn a_long_job_blocks_nobodys_token() {
    let world = World::new();
    let worker = start(
        world
            .worker()
            .handler::<TenMinutes, _>(Runner(world.witness.clone())),
    );
    world
        .publisher
        .enqueue_all((0..5).map(|_| TenMinutes))
        .await
        .unwrap();
    world.until(4.5).await;
    let starts: Vec<f64> = world.witness.starts().iter().map(|at| at.round()).collect();
    assert_eq!(starts, [0.0, 1.0, 2.0, 3.0, 4.0]);
    worker.kill().await;
}
