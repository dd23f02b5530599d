//! Keys that hash fields: `{field|hash}` (R30, R35).

#![expect(clippy::unwrap_used, reason = "test")]

use std::time::Duration;

use warp_runtime::prelude::*;
use warp_runtime::storage::model::JobState;
use warp_runtime::storage::{Store, StoreError};
use warp_runtime::worker::{BuildError, WorkerError};
use warp_tests::{Witness, World, start};

struct Runner(Witness);

#[mutex("mail:{email|hash}", mode = "wait")]
#[derive(Debug, Serialize, Deserialize, Job)]
struct SendEmail {
    email: String,
}

#[rate_limit("smtp:{email|hash}", count = 5, per = "1s")]
impl JobHandler<SendEmail> for Runner {
    async fn handle(&self, job: SendEmail, ctx: &JobContext) -> JobResult {
        self.0.work(&job.email, ctx, Duration::from_secs(1)).await;
        Ok(())
    }
}

struct Plain;

/// Replaces the contract's family: nothing is hashed any more.
#[mutex("mail")]
impl JobHandler<SendEmail> for Plain {
    async fn handle(&self, _: SendEmail, _: &JobContext) -> JobResult {
        Ok(())
    }
}

fn secret() -> KeySecret {
    KeySecret::new("a secret of all workers").unwrap()
}

fn email(email: &str) -> SendEmail {
    SendEmail {
        email: email.to_owned(),
    }
}

/// R30, R34: one address is one key, another one another, and the address itself stands nowhere. Both rungs; two workers with one secret.
#[tokio::test(start_paused = true)]
async fn one_value_is_one_key_in_every_worker() {
    let world = World::new();
    let worker = || {
        let runner = Runner(world.witness.clone());
        start(
            world
                .worker()
                .handler::<SendEmail, _>(runner)
                .key_secret(secret()),
        )
    };
    let workers = [worker(), worker()];
    let mut ids = Vec::new();
    for address in ["ann@example.org", "ann@example.org", "bob@example.org"] {
        ids.push(world.publisher.enqueue(email(address)).await.unwrap());
    }
    world.until_all_ended().await;
    for worker in workers {
        worker.stop().await;
    }

    assert_eq!(world.count(JobState::Succeeded).await, 3);
    assert_eq!(world.witness.most_at_once("ann@example.org"), 1);
    let mut keys = Vec::new();
    for id in ids {
        let stamp = world.job(id).await.stamp.unwrap().unwrap();
        assert_eq!(stamp.rate_limits.len(), 1);
        let rate = stamp.rate_limits[0].spec.key().to_string();
        let concurrency = stamp.concurrency.unwrap().spec.key().to_string();
        let hash = concurrency.strip_prefix("mail:").unwrap();
        assert_eq!(rate, format!("smtp:{hash}"));
        keys.push(hash.to_owned());
    }
    let hashed = secret().hash("ann@example.org");
    assert_eq!(keys[..2], [hashed.clone(), hashed]);
    assert_ne!(keys[0], keys[2]);
}

/// R30: a worker without the secret does not start, and says where it is needed; nor does it ask for one that nobody needs.
#[tokio::test(start_paused = true)]
async fn a_worker_without_the_secret_does_not_start() {
    let world = World::new();
    let runner = Runner(world.witness.clone());
    let built = world.worker().handler::<SendEmail, _>(runner).build();
    let Err(error @ BuildError::NoKeySecret { .. }) = built else {
        panic!("{built:?}")
    };
    let text = error.to_string();
    assert!(text.contains("`mail:{email|hash}` at "), "{text}");
    assert!(text.contains("`smtp:{email|hash}` at "), "{text}");
    assert!(text.contains("hashed_keys.rs:"), "{text}");

    let built = world.worker().handler::<SendEmail, _>(Plain).build();
    assert!(built.is_ok(), "{built:?}");
}

/// R35: a worker with another secret than the store's workers have had would split keys in two, and does not start. Nor does the secret itself
/// stand in the store.
#[tokio::test(start_paused = true)]
async fn a_worker_with_another_secret_does_not_start() {
    let world = World::new();
    let worker = |secret: KeySecret| {
        let runner = Runner(world.witness.clone());
        let worker = world.worker().handler::<SendEmail, _>(runner);
        worker.key_secret(secret)
    };
    start(worker(secret())).stop().await;
    let other = KeySecret::new("a secret of one worker").unwrap();
    let run = worker(other).build().unwrap().run_until(async {}).await;
    let Err(WorkerError::Register(StoreError::OtherKeySecret)) = run else {
        panic!("{run:?}")
    };
    start(worker(secret())).stop().await;
    let kept = world.memory.agree_on_key_secret(secret().hash(""));
    assert!(
        kept.await.is_err(),
        "no hash of a value that a field may have"
    );
}
