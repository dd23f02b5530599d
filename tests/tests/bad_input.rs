//! Rows and fields that cannot be used: a clear error on that job, and the worker goes on.

#![expect(clippy::panic, reason = "user code that panics is the subject")]

use std::fmt;
use std::time::Duration;

use warp_runtime::prelude::*;
use warp_runtime::storage::model::JobState;
use warp_tests::{Witness, World, start};

struct Runner(Witness);

#[derive(Debug, Serialize, Deserialize, Job)]
struct Plain;

impl JobHandler<Plain> for Runner {
    async fn handle(&self, _: Plain, _: &JobContext) -> JobResult {
        Ok(())
    }
}

#[derive(Debug, Serialize, Deserialize, Job)]
struct Unserved;

impl JobHandler<Unserved> for Runner {
    async fn handle(&self, _: Unserved, _: &JobContext) -> JobResult {
        Ok(())
    }
}

#[derive(Debug, Serialize, Deserialize, Job)]
#[mutex("slow", mode = "wait")]
struct Slow;

impl JobHandler<Slow> for Runner {
    async fn handle(&self, _: Slow, ctx: &JobContext) -> JobResult {
        self.0.work("slow", ctx, Duration::from_millis(100)).await;
        Ok(())
    }
}

/// Panics again when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped on purpose");
    }
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
            .handler::<Plain, _>(runner()),
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
    let other = world.publisher.enqueue(Plain).await.unwrap();
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
            .handler::<Slow, _>(Runner(world.witness.clone()))
            .retry(Retry::attempts(1)),
    );
    let ids = world
        .publisher
        .enqueue_all([Slow, Slow, Slow])
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
    assert_eq!(world.witness.of("slow").len(), 2);
}

/// R27: a job of a kind that no worker has is left alone, loses nothing, and runs once a worker has it.
#[tokio::test(start_paused = true)]
async fn an_unknown_kind_is_left_alone_until_a_worker_has_it() {
    let world = World::new();
    let runner = || Runner(world.witness.clone());
    let worker = start(world.worker().handler::<Plain, _>(runner()));
    let unknown = world.publisher.enqueue(Unserved).await.unwrap();
    let known = world.publisher.enqueue(Plain).await.unwrap();
    world.until(3600.0).await;
    assert_eq!(world.job(known).await.state, JobState::Succeeded);
    let job = world.job(unknown).await;
    assert_eq!(
        (job.state, job.attempts, job.stamp.is_none()),
        (JobState::Enqueued, 0, true)
    );

    let other = start(world.worker().handler::<Unserved, _>(runner()));
    world.until_all_ended().await;
    assert_eq!(world.job(unknown).await.state, JobState::Succeeded);
    worker.stop().await;
    other.stop().await;
}
