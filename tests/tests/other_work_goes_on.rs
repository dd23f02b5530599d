//! Limits hold up what they limit, and nothing else.

#![expect(clippy::unwrap_used, reason = "test")]

use std::time::Duration;

use warp_runtime::prelude::*;
use warp_tests::{Witness, World, start};

#[derive(Debug, Serialize, Deserialize, Job)]
#[mutex("acct-{account}", mode = "wait")]
struct Settle {
    account: u32,
}

#[derive(Debug, Serialize, Deserialize, Job)]
struct Ping;

struct Runner(Witness);

impl JobHandler<Settle> for Runner {
    async fn handle(&self, job: Settle, ctx: &JobContext) -> JobResult {
        self.0
            .work(format!("acct-{}", job.account), ctx, Duration::from_secs(1))
            .await;
        Ok(())
    }
}

impl JobHandler<Ping> for Runner {
    async fn handle(&self, _: Ping, ctx: &JobContext) -> JobResult {
        self.0.work("ping", ctx, Duration::ZERO).await;
        Ok(())
    }
}

async fn a_full_key_with(waiting: u32) {
    let world = World::new();
    let jobs = (0..waiting).map(|_| Settle { account: 1 });
    world.publisher.enqueue_all(jobs).await.unwrap();
    let runner = || Runner(world.witness.clone());
    let worker = start(
        world
            .worker()
            .handler::<Settle, _>(runner())
            .handler::<Ping, _>(runner())
            .concurrency(4),
    );
    world.until(10.0).await;

    world
        .publisher
        .enqueue(Settle { account: 2 })
        .await
        .unwrap();
    world.publisher.enqueue(Ping).await.unwrap();
    world.until_all_ended().await;
    worker.stop().await;

    for label in ["acct-2", "ping"] {
        let began = warp_tests::seconds(world.witness.of(label)[0].began);
        assert!(began < 10.5, "{label} began at {began}");
    }
    let runs = world.witness.of("acct-1");
    assert_eq!(runs.len(), waiting as usize);
    assert_eq!(world.witness.most_at_once("acct-1"), 1);
    for pair in runs.windows(2) {
        let gap = pair[1].began.since(pair[0].ended.unwrap());
        assert!(gap < Duration::from_millis(400), "a gap of {gap:?}");
    }
}

/// S06: one full key, 300 of its jobs in front.
#[tokio::test(start_paused = true)]
async fn a_full_key_does_not_hold_up_other_work() {
    a_full_key_with(300).await;
}

/// S06: ten times as many make no difference.
#[tokio::test(start_paused = true)]
async fn a_full_key_with_thousands_waiting_does_not_hold_up_other_work() {
    a_full_key_with(3_000).await;
}

/// S06, R45: not even while they are still ready, and none of them has been put in line.
#[tokio::test(start_paused = true)]
async fn the_intake_of_a_full_key_does_not_hold_up_other_work() {
    let world = World::new();
    world
        .publisher
        .enqueue_all((0..20_000).map(|_| Settle { account: 1 }))
        .await
        .unwrap();
    world.publisher.enqueue(Ping).await.unwrap();
    let runner = || Runner(world.witness.clone());
    let worker = start(
        world
            .worker()
            .handler::<Settle, _>(runner())
            .handler::<Ping, _>(runner())
            .concurrency(4),
    );
    world.until(3.0).await;
    assert_eq!(world.witness.of("ping").len(), 1);
    let turns = world.memory.operations().turns;
    assert!(turns < 100, "{turns} turns");
    worker.kill().await;
}

#[derive(Debug, Serialize, Deserialize, Job)]
#[mutex("shared", mode = "wait")]
struct Mine {
    seconds: u64,
}

#[derive(Debug, Serialize, Deserialize, Job)]
#[mutex("shared", mode = "wait")]
struct Yours;

impl JobHandler<Mine> for Runner {
    async fn handle(&self, job: Mine, ctx: &JobContext) -> JobResult {
        self.0
            .work("mine", ctx, Duration::from_secs(job.seconds))
            .await;
        Ok(())
    }
}

impl JobHandler<Yours> for Runner {
    async fn handle(&self, _: Yours, ctx: &JobContext) -> JobResult {
        self.0.work("yours", ctx, Duration::from_secs(1)).await;
        Ok(())
    }
}

/// R44: a slot that one worker frees wakes the other one at once, which alone can run the waiter.
#[tokio::test(start_paused = true)]
async fn a_release_wakes_the_worker_that_can_run_the_waiter() {
    let world = World::new();
    let runner = || Runner(world.witness.clone());
    let mine = start(world.worker().handler::<Mine, _>(runner()));
    let yours = start(world.worker().handler::<Yours, _>(runner()));
    world.publisher.enqueue(Mine { seconds: 5 }).await.unwrap();
    world.until(1.0).await;
    world.publisher.enqueue(Yours).await.unwrap();
    world.until_all_ended().await;
    mine.stop().await;
    yours.stop().await;
    let began = warp_tests::seconds(world.witness.of("yours")[0].began);
    assert!((5.0..5.01).contains(&began), "at {began}");
}

/// R83, R43: nobody waits for the jobs that only a worker in its shutdown could run.
#[tokio::test(start_paused = true)]
async fn a_worker_that_shuts_down_is_not_waited_for() {
    let world = World::new();
    let runner = || Runner(world.witness.clone());
    let mine = start(
        world
            .worker()
            .handler::<Mine, _>(runner())
            .grace(Duration::from_secs(60)),
    );
    let yours = start(world.worker().handler::<Yours, _>(runner()));
    world.publisher.enqueue(Mine { seconds: 10 }).await.unwrap();
    // This one keeps it in its grace time.
    let other = JobParameters::new().with_mutex("other");
    world
        .publisher
        .enqueue_with(Mine { seconds: 40 }, other)
        .await
        .unwrap();
    world.until(1.0).await;
    world.publisher.enqueue(Mine { seconds: 1 }).await.unwrap();
    world.until(2.0).await;
    world.publisher.enqueue(Yours).await.unwrap();
    world.until(3.0).await;
    let stopping = tokio::spawn(mine.stop());
    world.until(20.0).await;
    let began = warp_tests::seconds(world.witness.of("yours")[0].began);
    assert!(
        (10.0..10.01).contains(&began),
        "at {began}, and not a second later"
    );
    stopping.await.unwrap();
    yours.stop().await;
}
