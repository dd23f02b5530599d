//! Which policy a job follows: the rungs, the stamp, keys, parameters.

#![expect(clippy::unwrap_used, reason = "test")]

use std::time::Duration;

use warp_runtime::prelude::*;
use warp_runtime::storage::model::JobState;
use warp_runtime::{ConcurrencySpec, EnqueueError, Key, Mode, PolicyError};
use warp_tests::{Witness, World, start};

struct Runner(Witness);

#[derive(Debug, Serialize, Deserialize, Job)]
#[mutex("contract")]
#[rate_limit("contract-rate", count = 100, per_seconds = 1)]
struct Overridden;

#[semaphore("handler", limit = 3)]
impl JobHandler<Overridden> for Runner {
    async fn handle(&self, _: Overridden, ctx: &JobContext) -> JobResult {
        self.0.work("overridden", ctx, Duration::from_secs(1)).await;
        Ok(())
    }
}

fn stamped(job: &warp_runtime::storage::model::Job) -> serde_json::Value {
    serde_json::to_value(job.stamp.as_ref().unwrap().as_ref().unwrap()).unwrap()
}

/// R20, R21: the handler's semaphore replaces the contract's mutex outright; the rate limit comes from the contract, which alone has one.
#[tokio::test(start_paused = true)]
async fn the_handler_replaces_the_contract_family_by_family() {
    let world = World::new();
    let worker = start(
        world
            .worker()
            .handler::<Overridden, _>(Runner(world.witness.clone())),
    );
    let ids = world
        .publisher
        .enqueue_all((0..6).map(|_| Overridden))
        .await
        .unwrap();
    assert!(
        world.job(ids[0]).await.stamp.is_none(),
        "nothing is stamped at publish"
    );
    world.until_all_ended().await;
    worker.stop().await;

    assert_eq!(world.witness.most_at_once("overridden"), 3);
    assert_eq!(
        world.count(JobState::Succeeded).await,
        6,
        "a semaphore waits"
    );
    let stamp = stamped(&world.job(ids[0]).await);
    assert_eq!(stamp["concurrency"]["rung"], "handler");
    assert_eq!(stamp["concurrency"]["spec"]["key"], "handler");
    assert_eq!(stamp["rate_limits"][0]["rung"], "contract");
    let site = &stamp["concurrency"]["site"];
    assert!(
        site["file"].as_str().unwrap().ends_with("policies.rs"),
        "{site}"
    );
    assert!(site["line"].as_u64().unwrap() > 1);
}

/// R20, R24, R51: explicit parameters beat both rungs, in the modes that their kinds have by default.
#[tokio::test(start_paused = true)]
async fn explicit_parameters_beat_every_declaration() {
    let world = World::new();
    let worker = start(
        world
            .worker()
            .handler::<Overridden, _>(Runner(world.witness.clone())),
    );
    let parameters = || {
        JobParameters::new()
            .with_mutex("payment:123")
            .with_rate_limit("crm", 100, Duration::from_secs(60))
    };
    let first = world
        .publisher
        .enqueue_with(Overridden, parameters())
        .await
        .unwrap();
    let second = world
        .publisher
        .enqueue_with(Overridden, parameters())
        .await
        .unwrap();
    world.until_all_ended().await;
    worker.stop().await;

    let stamp = stamped(&world.job(first).await);
    assert_eq!(stamp["concurrency"]["rung"], "explicit");
    assert_eq!(stamp["concurrency"]["spec"]["key"], "payment:123");
    assert_eq!(stamp["rate_limits"][0]["spec"]["key"], "crm");
    assert_eq!(
        world.job(second).await.state,
        JobState::Deleted,
        "an explicit mutex skips by default"
    );
    let log = world.log(second).await;
    assert_eq!(
        log.last().map(String::as_str),
        Some("skipped: concurrency key `payment:123`: 1 of 1 running")
    );
}

/// R24: an invalid explicit policy is an error that says what is wrong, and enqueues nothing.
#[tokio::test(start_paused = true)]
async fn an_invalid_explicit_policy_enqueues_nothing() {
    let world = World::new();
    let cases = [
        (JobParameters::new().with_mutex(" "), PolicyError::KeyEmpty),
        (
            JobParameters::new().with_mutex("ann@example.org"),
            PolicyError::KeyLooksLikeEmail,
        ),
        (
            JobParameters::new().with_semaphore("k", 0),
            PolicyError::TooSmall { argument: "limit" },
        ),
        (
            JobParameters::new().with_mutex("a").with_semaphore("b", 3),
            PolicyError::ConcurrencyTwice {
                first: "a".into(),
                second: "b".into(),
            },
        ),
        (
            JobParameters::new().with_rate_limit("k", 1, Duration::from_hours(169)),
            PolicyError::WindowTooLarge { argument: "per" },
        ),
        (
            JobParameters::new()
                .with_rate_limit("k", 1, Duration::from_secs(1))
                .with_rate_limit("k", 2, Duration::from_secs(2)),
            PolicyError::RateLimitTwice { key: "k".into() },
        ),
    ];
    for (parameters, expected) in cases {
        match world.publisher.enqueue_with(Overridden, parameters).await {
            Err(EnqueueError::Policy { source }) => assert_eq!(source, expected),
            other => panic!("{other:?}, and not {expected}"),
        }
    }
    assert!(world.jobs().await.is_empty());
}

#[derive(Debug, Serialize, Deserialize)]
struct Customer {
    id: u32,
}

#[derive(Debug, Serialize, Deserialize, Job)]
#[semaphore("customer:{customer.id}:{region}", limit = 1)]
struct Bill {
    customer: Customer,
    region: String,
}

impl JobHandler<Bill> for Runner {
    async fn handle(&self, job: Bill, ctx: &JobContext) -> JobResult {
        self.0
            .work(
                format!("bill-{}", job.customer.id),
                ctx,
                Duration::from_secs(1),
            )
            .await;
        Ok(())
    }
}

#[derive(Debug, Serialize, Deserialize, Job)]
struct Fax {
    number: u32,
}

#[mutex("fax:{number}", mode = "wait")]
impl JobHandler<Fax> for Runner {
    async fn handle(&self, job: Fax, ctx: &JobContext) -> JobResult {
        self.0
            .work(format!("fax-{}", job.number), ctx, Duration::from_secs(1))
            .await;
        Ok(())
    }
}

/// R30, R34: each rendered key has its own slots, on both rungs.
#[tokio::test(start_paused = true)]
async fn a_template_gives_each_value_its_own_key() {
    let world = World::new();
    let runner = || Runner(world.witness.clone());
    let worker = start(
        world
            .worker()
            .handler::<Bill, _>(runner())
            .handler::<Fax, _>(runner())
            .concurrency(100),
    );
    let bill = |id| Bill {
        customer: Customer { id },
        region: "a:b".into(),
    };
    let ids = world
        .publisher
        .enqueue_all((0..30).map(|number| bill(number % 3)))
        .await
        .unwrap();
    world
        .publisher
        .enqueue_all((0..30).map(|number| Fax { number: number % 3 }))
        .await
        .unwrap();
    world.until(0.5).await;
    assert_eq!(world.count(JobState::Processing).await, 6);
    world.until_all_ended().await;
    worker.stop().await;

    for label in ["bill-0", "bill-1", "bill-2", "fax-0", "fax-1", "fax-2"] {
        assert_eq!(world.witness.of(label).len(), 10);
        assert_eq!(world.witness.most_at_once(label), 1);
    }
    let stamp = stamped(&world.job(ids[1]).await);
    assert_eq!(stamp["concurrency"]["spec"]["key"], "customer:1:a%3Ab");
}

#[derive(Debug, Serialize, Deserialize, Job)]
#[job(name = "Renamed", alias = "Original")]
#[mutex("renamed", mode = "wait")]
struct Renamed;

#[derive(Debug, Serialize, Deserialize, Job)]
struct Original;

impl JobHandler<Renamed> for Runner {
    async fn handle(&self, _: Renamed, ctx: &JobContext) -> JobResult {
        self.0.work(ctx.kind(), ctx, Duration::from_secs(1)).await;
        Ok(())
    }
}

/// R7: rows of an older name stay runnable, under the policy of the new type.
#[tokio::test(start_paused = true)]
async fn an_alias_runs_rows_of_an_older_name() {
    let world = World::new();
    world.publisher.enqueue(Original).await.unwrap();
    world.publisher.enqueue(Renamed).await.unwrap();
    let worker = start(
        world
            .worker()
            .handler::<Renamed, _>(Runner(world.witness.clone())),
    );
    world.until_all_ended().await;
    worker.stop().await;
    let runs = world.witness.runs();
    assert_eq!(
        runs.iter()
            .map(|run| run.label.as_str())
            .collect::<Vec<_>>(),
        ["Original", "Renamed"]
    );
    assert_eq!(world.witness.most_at_once(""), 1);
}

/// R2: a type may be a job and its own handler.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
#[semaphore("itself", limit = 2)]
struct Itself;

impl JobHandler<Itself> for Itself {
    async fn handle(&self, _: Itself, _: &JobContext) -> JobResult {
        Ok(())
    }
}

/// R2, R24: a mutex in wait mode by an explicit parameter, on a job that handles itself.
#[tokio::test(start_paused = true)]
async fn a_job_may_be_its_own_handler() {
    let world = World::new();
    let worker = start(world.worker().handler::<Itself, _>(Itself));
    let waits = ConcurrencySpec::mutex(Key::new("alone").unwrap()).with_mode(Mode::Wait);
    let parameters = JobParameters::new().with_concurrency(waits);
    world
        .publisher
        .enqueue_all_with([Itself; 20], parameters)
        .await
        .unwrap();
    world.publisher.enqueue(Itself).await.unwrap();
    world.until_all_ended().await;
    worker.stop().await;
    assert_eq!(world.count(JobState::Succeeded).await, 21);
}

/// R7: one name for two contracts does not start.
#[tokio::test(start_paused = true)]
async fn one_name_for_two_contracts_does_not_start() {
    #[derive(Debug, Serialize, Deserialize, Job)]
    #[job(name = "Fax")]
    struct OtherFax;

    impl JobHandler<OtherFax> for Runner {
        async fn handle(&self, _: OtherFax, _: &JobContext) -> JobResult {
            Ok(())
        }
    }

    let world = World::new();
    let runner = || Runner(world.witness.clone());
    let built = world
        .worker()
        .handler::<Fax, _>(runner())
        .handler::<OtherFax, _>(runner())
        .build();
    let error = built.unwrap_err().to_string();
    assert!(error.contains("are both stored as `Fax`"), "{error}");
}

/// R5: a type that carries a policy which the registry does not know is refused wherever it is used; it never runs without its limit.
#[tokio::test(start_paused = true)]
async fn a_policy_that_the_registry_does_not_know_starts_nothing() {
    use warp_runtime::__private::{ConcurrencyDeclaration, Declared, KeyDeclaration, Site};

    static UNKNOWN: ConcurrencyDeclaration = ConcurrencyDeclaration::new(
        KeyDeclaration::Fixed("unknown"),
        1,
        Mode::Wait,
        Site {
            file: "elsewhere.rs",
            line: 12,
        },
    );

    #[derive(Debug, Serialize, Deserialize)]
    struct ByHand;

    impl Job for ByHand {
        const NAME: &'static str = "ByHand";
        const __WARP_DECLARED: Declared = Declared {
            concurrency: Some(&UNKNOWN),
            ..Declared::NONE
        };
    }

    impl JobHandler<ByHand> for Runner {
        async fn handle(&self, _: ByHand, _: &JobContext) -> JobResult {
            Ok(())
        }
    }

    let world = World::new();
    let enqueued = world.publisher.enqueue(ByHand).await;
    let Err(EnqueueError::Registry(errors)) = enqueued else {
        panic!("{enqueued:?}")
    };
    assert!(
        errors.to_string().contains("ByHand` at elsewhere.rs:12"),
        "{errors}"
    );
    assert!(world.jobs().await.is_empty());
    let built = world
        .worker()
        .handler::<ByHand, _>(Runner(world.witness.clone()))
        .build();
    assert!(built.is_err());
}
