//! On the database's own clock, and with everything at once: two processes' stores, workers that come and go, sweeps without a pause (R66).

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use warp_policy::precedence::ExplicitPolicies;
use warp_policy::{ConcurrencySpec, Key, Mode, Timestamp};
use warp_storage::conformance::Harness;
use warp_storage::model::{
    Counter, Dispatch, End, Finished, NewJob, NewWorker, Ready, Resolution, Resolver, Sweep,
    Unresolved,
};
use warp_storage::{Postgres, Store};

use crate::on_server::{OnServer, url};

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

const JOBS: usize = 300;
const KEYS: usize = 20;

/// How many jobs of each key run, by what is seen from outside.
type Running = [AtomicUsize; KEYS];

fn jobs() -> Outcome<Vec<NewJob>> {
    let mut jobs = Vec::new();
    for number in 0..JOBS {
        let key = number % KEYS;
        let spec = ConcurrencySpec::semaphore(Key::new(format!("k{key}"))?, 2)?;
        jobs.push(NewJob {
            kind: ["a", "b"][number % 2].into(),
            queue: "default".into(),
            payload: key.to_string(),
            priority: 0,
            ready: if number % 3 == 0 {
                Ready::In(Duration::from_millis(20))
            } else {
                Ready::Now
            },
            explicit: ExplicitPolicies {
                concurrency: Some(spec.with_mode(Mode::Wait)),
                rate_limits: Vec::new(),
            },
        });
    }
    Ok(jobs)
}

async fn new_worker(store: &Postgres) -> Outcome<warp_policy::ids::WorkerId> {
    let new = NewWorker {
        name: "worker".to_owned(),
        queues: [Arc::from("default")].into(),
        kinds: [Arc::from("a"), Arc::from("b")].into(),
        lease: Duration::from_secs(60),
    };
    Ok(store.register(new).await?)
}

/// No limit is exceeded, no wake-up is lost, every job ends once, though limiters are forgotten all the time between two uses.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn everything_at_once_exceeds_no_limit_and_loses_nothing() -> Outcome {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let mut stores = Vec::new();
    for _ in 0..2 {
        let options = Postgres::options(&url()).schema(&harness.schema);
        stores.push(options.max_connections(4).open().await?);
    }
    stores[0].enqueue(jobs()?).await?;
    let running: Arc<Running> = Arc::default();
    let is_over = Arc::new(AtomicBool::new(false));
    let mut working = tokio::task::JoinSet::new();
    for number in 0..4 {
        let store = stores[number % 2].clone();
        working.spawn(work_off(store, Arc::clone(&running)));
    }
    let sweeper = stores[1].clone();
    let sweeps = {
        let is_over = Arc::clone(&is_over);
        tokio::spawn(async move {
            let mut swept = (0, 0);
            while !is_over.load(Ordering::SeqCst) {
                let this = sweeper.sweep(Sweep { max_lost: 3 }).await?;
                swept = (swept.0 + this.repaired, swept.1 + this.dead.len());
            }
            Outcome::Ok(swept)
        })
    };
    while let Some(worked) = working.join_next().await {
        worked??;
    }
    is_over.store(true, Ordering::SeqCst);
    assert_eq!(sweeps.await??, (0, 0), "lost wake-ups, dead workers");
    let counters = stores[0].counters().await?;
    assert_eq!(counters.get(Counter::Succeeded), JOBS as u64);
    assert_eq!(harness.ask("SELECT count(*) FROM warp.slots").await, 0);
    assert_eq!(harness.ask("SELECT count(*) FROM warp.lanes").await, 0);
    harness.audit().await.map_err(|error| error.to_string())?;
    Ok(())
}

/// Takes turns until all jobs have ended; leaves and comes back now and then.
async fn work_off(store: Postgres, running: Arc<Running>) -> Outcome {
    let mut worker = new_worker(&store).await?;
    let mut mine = Vec::new();
    for turn in 1.. {
        let of_key = |key: usize| &running[key];
        let finished = std::mem::take(&mut mine);
        let finished: Vec<Finished> = finished
            .into_iter()
            .map(|(key, finished)| {
                of_key(key).fetch_sub(1, Ordering::SeqCst);
                finished
            })
            .collect();
        let turn_of = Dispatch {
            worker,
            turn,
            finished,
            room: 5,
            fetch: 30,
        };
        let dispatched = store.dispatch(turn_of, &Explicit).await?;
        assert!(dispatched.stale.is_empty() && dispatched.failed.is_empty());
        for started in dispatched.started {
            let key: usize = started.payload.parse()?;
            let now_running = of_key(key).fetch_add(1, Ordering::SeqCst) + 1;
            assert!(now_running <= 2, "{now_running} of key {key} run at once");
            let end = End::Succeeded;
            let (job, claim) = (started.job, started.claim);
            mine.push((key, Finished { job, claim, end }));
        }
        if !mine.is_empty() {
            continue;
        }
        if store.counters().await?.get(Counter::Succeeded) == JOBS as u64 {
            break;
        }
        if turn % 7 == 0 {
            store.deregister(worker).await?;
            worker = new_worker(&store).await?;
        }
        store.heartbeat(worker).await?;
    }
    Ok(store.deregister(worker).await?)
}

/// The store's clock is the database's.
#[tokio::test]
async fn the_clock_is_the_databases() -> Outcome {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let options = Postgres::options(&url()).schema(&harness.schema);
    let store = options.max_connections(1).open().await?;
    let question = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
    let before = Timestamp::from_micros(harness.ask(question).await);
    let id = store.enqueue(jobs()?).await?[1];
    let worker = new_worker(&store).await?;
    let turn = Dispatch {
        worker,
        turn: 1,
        finished: Vec::new(),
        room: 1,
        fetch: 1,
    };
    let dispatched = store.dispatch(turn, &Explicit).await?;
    let shown = store.clock().now();
    let after = Timestamp::from_micros(harness.ask(question).await);
    let job = store.job(id).await?.ok_or("it is gone")?;
    assert_eq!(job.admitted_at, Some(dispatched.now));
    for at in [job.enqueued_at, dispatched.now] {
        assert!(before <= at && at <= after, "{before} {at} {after}");
    }
    // Known to this process as exactly as its questions were answered.
    let second = Duration::from_secs(1);
    assert!(before.minus(second) <= shown && shown <= after.plus(second));
    Ok(())
}

/// Resolves to the explicit policies.
#[derive(Debug)]
struct Explicit;

impl Resolver for Explicit {
    fn resolve(&self, job: &Unresolved) -> Resolution {
        let none = &warp_policy::declaration::Declared::NONE;
        match warp_policy::precedence::resolve(&job.explicit, none, none, &()) {
            Ok(stamp) => Resolution::Stamp(stamp),
            Err(error) => Resolution::Fail(error.to_string()),
        }
    }

    fn declares_nothing(&self, _kind: &str) -> bool {
        true
    }
}
