//! What a turn costs: statements are counted, `BEGIN` and `COMMIT` included (R45).

use std::error::Error;
use std::time::Duration;

use warp_policy::precedence::ExplicitPolicies;
use warp_policy::{ConcurrencySpec, Key, Mode, RateLimitSpec, Style, Window};
use warp_storage::conformance::Scene;
use warp_storage::model::{End, Finished, NewJob, Ready, Resolution, Resolver, Unresolved};

use crate::on_server::{OnServer, connection};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const LEASE: Duration = Duration::from_secs(30);

/// The most statements of one turn, with keys that nobody has met before.
const MOST: u64 = 10;

fn job(kind: &str, explicit: ExplicitPolicies) -> NewJob {
    NewJob {
        kind: kind.into(),
        queue: "default".into(),
        payload: "null".to_owned(),
        priority: 0,
        ready: Ready::Now,
        explicit,
    }
}

fn mutex(key: &str, mode: Mode) -> Result<ExplicitPolicies> {
    let spec = ConcurrencySpec::mutex(Key::new(key)?).with_mode(mode);
    Ok(ExplicitPolicies {
        concurrency: Some(spec),
        rate_limits: Vec::new(),
    })
}

fn with_rate(explicit: ExplicitPolicies, key: &str, count: u32) -> Result<ExplicitPolicies> {
    let window = Window::from_duration(Duration::from_secs(60))?;
    let spec = RateLimitSpec::new(Key::new(key)?, count, window)?
        .with_mode(Mode::Wait)
        .with_style(Style::Sliding)?;
    Ok(ExplicitPolicies {
        rate_limits: vec![spec],
        ..explicit
    })
}

/// A turn that finds nothing is one statement, and so is one without keys. One turn that ends, starts, skips and puts in line by the
/// hundred, that wakes lanes, empties others and makes new ones, is no more than ten; and so is every turn on the way there.
#[tokio::test]
async fn a_turn_has_at_most_ten_statements_whatever_its_size() -> Result {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let scene = Scene::new(&harness);
    let statements = || harness.postgres.statistics().statements;
    let mut worker = scene.worker(&["a", "b"]).await?;
    worker.room = 400;
    worker.fetch = 500;
    let before = statements();
    worker.start(&scene).await?;
    assert_eq!(statements() - before, 1, "nothing to do");

    let free = scene.enqueue("a", ExplicitPolicies::default()).await?;
    let before = statements();
    assert_eq!(worker.start(&scene).await?, [free]);
    assert_eq!(statements() - before, 1, "without keys");

    let mut most = 0;
    for round in 0..6 {
        scene.at(f64::from(round) * 20.0);
        let mut jobs = Vec::new();
        for number in 0..100 {
            let kind = if number % 2 == 0 { "a" } else { "b" };
            jobs.push(job(kind, mutex(&format!("own {number}"), Mode::Wait)?));
            jobs.push(job(kind, mutex(&format!("own {number}"), Mode::Skip)?));
            jobs.push(job(kind, ExplicitPolicies::default()));
            let both = mutex(&format!("of two {round} {number}"), Mode::Wait)?;
            jobs.push(job(kind, with_rate(both, "shared", 30)?));
        }
        scene.enqueue_many(jobs).await?;
        for _ in 0..3 {
            let running: Vec<_> = worker.running.iter().map(|started| started.job).collect();
            let ended = running.into_iter().step_by(2);
            let finished: Vec<Finished> = ended
                .map(|job| worker.take_out(job, End::Succeeded))
                .collect::<Result<_>>()?;
            let before = statements();
            worker.turn_with(&scene, finished).await?;
            most = most.max(statements() - before);
        }
    }
    assert!(most <= MOST, "{most} statements");
    Ok(())
}

/// R47: a turn in which nothing has a policy is one statement, and one transaction, whatever ends and starts in it. One that looks in vain
/// is one, too, and writes nothing.
#[tokio::test]
async fn a_turn_without_policies_is_one_statement() -> Result {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let scene = Scene::new(&harness);
    let mut worker = scene.worker_on("default", &["a"], LEASE).await?;
    worker.room = 40;
    let mut jobs = vec![job("a", ExplicitPolicies::default()); 100];
    jobs[0].ready = Ready::In(Duration::from_secs(1));
    scene.enqueue_many(jobs).await?;
    let cost = || {
        let cost = harness.postgres.statistics();
        (cost.statements, cost.transactions)
    };
    let ends = [
        End::Succeeded,
        End::Failed {
            error: "broken".to_owned(),
        },
        End::Retry {
            error: "busy".to_owned(),
            after: Duration::from_secs(100),
        },
    ];
    let mut started = 0;
    for second in 0..4 {
        scene.at(f64::from(second));
        let ids: Vec<_> = worker.running.iter().map(|started| started.job).collect();
        let ended = ids.into_iter().zip(ends.iter().cycle().cloned());
        let finished = ended.map(|(job, end)| worker.take_out(job, end));
        let finished: Vec<Finished> = finished.collect::<Result<_>>()?;
        let before = cost();
        started += worker.turn_with(&scene, finished).await?.started.len();
        let after = cost();
        assert_eq!((after.0 - before.0, after.1 - before.1), (1, 1));
    }
    assert_eq!(started, 100);
    let before = (cost(), worker_row(&harness).await?);
    worker.start(&scene).await?;
    let after = (cost(), worker_row(&harness).await?);
    assert_eq!(after.0.0 - before.0.0, 1, "nothing to do");
    assert_eq!(after.1, before.1, "and nothing was written or locked");

    scene.at(3.0 + LEASE.as_secs_f64() / 3.0);
    let before = cost();
    worker.start(&scene).await?;
    assert_eq!(cost().0 - before.0, 1, "it says that it is alive");
    assert_ne!(worker_row(&harness).await?, after.1);
    Ok(())
}

/// Where the row of the only worker is, and who locked it last.
async fn worker_row(harness: &OnServer) -> Result<(String, String)> {
    let ask = "SELECT ctid::text, xmax::text FROM warp.workers";
    let mut hand = harness.by_hand.lock().await;
    let ask = sqlx::query_as(harness.here(ask));
    Ok(ask.fetch_one(&mut *hand).await?)
}

/// What a job costs where 32 run at once and end together: at most 0.3 statements without a policy, and 0.4 with a key that nobody has met.
#[tokio::test]
async fn a_job_costs_a_fraction_of_a_statement() -> Result {
    const AT_ONCE: usize = 32;
    const JOBS: usize = 640;
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let scene = Scene::new(&harness);
    for (is_keyed, most) in [(false, 0.3), (true, 0.4)] {
        let mut worker = scene.worker(&["a"]).await?;
        worker.room = AT_ONCE;
        let explicit = |number| {
            if is_keyed {
                mutex(&format!("own {number}"), Mode::Wait)
            } else {
                Ok(ExplicitPolicies::default())
            }
        };
        let jobs = (0..JOBS).map(|number| Ok(job("a", explicit(number)?)));
        scene.enqueue_many(jobs.collect::<Result<_>>()?).await?;
        let before = harness.postgres.statistics().statements;
        let mut ended = 0;
        while ended < JOBS {
            let ids: Vec<_> = worker.running.iter().map(|started| started.job).collect();
            ended += ids.len();
            let finished = ids
                .into_iter()
                .map(|job| worker.take_out(job, End::Succeeded));
            let finished: Vec<Finished> = finished.collect::<Result<_>>()?;
            worker.turn_with(&scene, finished).await?;
        }
        let statements = harness.postgres.statistics().statements - before;
        #[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
        let each = statements as f64 / JOBS as f64;
        assert!(
            each <= most,
            "{each} statements for each job, keyed: {is_keyed}"
        );
        scene.store().deregister(worker.id).await?;
    }
    Ok(())
}

/// R47: jobs without policies, and the same with a key that is known.
#[tokio::test]
async fn ten_thousand_waiters_and_foreign_jobs_cost_other_work_nothing() -> Result {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let scene = Scene::new(&harness);
    let mut worker = scene.worker(&["a"]).await?;
    worker.fetch = 500;
    let full = || with_rate(ExplicitPolicies::default(), "full", 1);
    scene.enqueue_many(vec![job("a", full()?); 10_001]).await?;
    scene
        .enqueue_many(vec![job("foreign", ExplicitPolicies::default()); 10_000])
        .await?;
    worker.settle(&scene).await?;
    worker.fetch = 0;
    let bytes = || harness.postgres.statistics().bytes_read;
    for _ in 0..3 {
        let first = scene.enqueue_as(job("a", mutex("k", Mode::Wait)?)).await?;
        let before = bytes();
        assert_eq!(worker.start(&scene).await?, [first]);
        assert!(worker.end(&scene, first, End::Succeeded).await?.is_empty());
        let read = bytes() - before;
        assert!(read < 10_000, "{read} bytes");
    }
    Ok(())
}

/// R32: the user's code runs while the turn holds nothing.
#[tokio::test]
async fn nothing_is_locked_while_the_users_code_runs() -> Result {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let scene = Scene::new(&harness);
    let mut worker = scene.worker(&["a"]).await?;
    let id = scene.enqueue_as(job("a", mutex("k", Mode::Wait)?)).await?;
    let everything = ["workers", "jobs", "limiters"];
    let statements =
        everything.map(|table| format!("SELECT 1 FROM warp.{table} FOR UPDATE NOWAIT;"));
    let resolver = LooksForLocks {
        statements: harness.here(&statements.concat()).0,
    };
    let turn = worker.turn(&scene, Vec::new(), &resolver).await?;
    assert_eq!(turn.started.len(), 1, "{:?}", turn.failed);
    assert_eq!(turn.started[0].job, id);
    Ok(())
}

/// Resolves a job, if it can lock everything.
#[derive(Debug)]
struct LooksForLocks {
    statements: String,
}

impl Resolver for LooksForLocks {
    fn resolve(&self, job: &Unresolved) -> Resolution {
        let statements = sqlx::AssertSqlSafe(self.statements.clone());
        let look = move || {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let mut hand = connection().await;
                sqlx::raw_sql(statements).execute(&mut hand).await
            })
        };
        let looked = std::thread::spawn(look).join().expect("it only looks");
        if let Err(error) = looked {
            return Resolution::Fail(error.to_string());
        }
        let none = &warp_policy::declaration::Declared::NONE;
        match warp_policy::precedence::resolve(&job.explicit, none, none, &()) {
            Ok(stamp) => Resolution::Stamp(stamp),
            Err(error) => Resolution::Fail(error.to_string()),
        }
    }
}
