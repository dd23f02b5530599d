//! Real tasks on real threads: whatever their order, the limits hold (S04).

#[path = "common/backend.rs"]
mod backend;
#[path = "common/in_file.rs"]
mod in_file;
#[path = "common/in_memory.rs"]
mod in_memory;
#[cfg(feature = "postgres")]
#[path = "common/on_server.rs"]
mod on_server;

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use warp_policy::declaration::Declared;
use warp_policy::ids::JobId;
use warp_policy::precedence::{ExplicitPolicies, resolve};
use warp_policy::{ConcurrencySpec, Key, Mode, RateLimitSpec, Style, Window};
use warp_storage::Store;
use warp_storage::model::{
    Counter, Dispatch, End, Finished, JobState, NewJob, NewWorker, Ready, Resolution, Resolver,
    Started, Unresolved,
};

use crate::backend::Backend;
use crate::in_file::InFile;
use crate::in_memory::InMemory;

const WORKERS: usize = 4;
const JOBS: usize = 200;

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

const ROUNDS: usize = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_workers_at_once_never_exceed_a_semaphore_on_memory() -> Outcome {
    never_exceed_a_semaphore(async || Ok(Box::new(InMemory::new()) as _), ROUNDS).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_workers_at_once_never_exceed_a_rate_on_memory() -> Outcome {
    never_exceed_a_rate(async || Ok(Box::new(InMemory::new()) as _), ROUNDS).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_workers_at_once_never_exceed_a_semaphore_on_sqlite() -> Outcome {
    never_exceed_a_semaphore(async || Ok(Box::new(InFile::new().await) as _), 1).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_workers_at_once_never_exceed_a_rate_on_sqlite() -> Outcome {
    never_exceed_a_rate(async || Ok(Box::new(InFile::new().await) as _), 1).await
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_workers_at_once_never_exceed_a_semaphore_on_postgres() -> Outcome {
    if !on_server::has_server().await {
        return Ok(());
    }
    never_exceed_a_semaphore(on_a_server, 2).await
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_workers_at_once_never_exceed_a_rate_on_postgres() -> Outcome {
    if !on_server::has_server().await {
        return Ok(());
    }
    never_exceed_a_rate(on_a_server, 2).await
}

#[cfg(feature = "postgres")]
async fn on_a_server() -> Outcome<Box<dyn Backend>> {
    let server = on_server::OnServer::new().await;
    Ok(Box::new(server.ok_or("there is no server")?))
}

/// S04: four workers begin at the same moment, and the key has never been used before.
async fn never_exceed_a_semaphore(
    fresh: impl AsyncFn() -> Outcome<Box<dyn Backend>>,
    rounds: usize,
) -> Outcome {
    for round in 0..rounds {
        for limit in [5, 1] {
            let world = World::new(fresh().await?, limit);
            world.enqueue(Some(limit), None).await?;
            world.work_it_off().await?;
            let most = world.most.load(Ordering::SeqCst);
            assert_eq!(most, limit as usize, "round {round}: the most at once");
            assert_eq!(world.started.load(Ordering::SeqCst), JOBS);
        }
    }
    Ok(())
}

/// R62: nor a rate. The clock stands still, so that no more than its count can ever start.
async fn never_exceed_a_rate(
    fresh: impl AsyncFn() -> Outcome<Box<dyn Backend>>,
    rounds: usize,
) -> Outcome {
    for round in 0..rounds {
        let world = World::new(fresh().await?, u32::MAX);
        world.enqueue(None, Some(17)).await?;
        world.work_it_off().await?;
        let started = world.started.load(Ordering::SeqCst);
        assert_eq!(started, 17, "round {round}");
    }
    Ok(())
}

/// A store, and what its handlers see of each other.
struct World {
    backend: Box<dyn Backend>,
    limit: usize,
    running: AtomicUsize,
    most: AtomicUsize,
    started: AtomicUsize,
}

impl World {
    fn new(backend: Box<dyn Backend>, limit: u32) -> Arc<Self> {
        Arc::new(Self {
            backend,
            limit: limit as usize,
            running: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            started: AtomicUsize::new(0),
        })
    }

    fn store(&self) -> &dyn Store {
        self.backend.store()
    }

    async fn enqueue(&self, limit: Option<u32>, count: Option<u32>) -> Outcome {
        let mut explicit = ExplicitPolicies::default();
        if let Some(limit) = limit {
            let spec = ConcurrencySpec::semaphore(Key::new("api")?, limit)?;
            explicit.concurrency = Some(spec.with_mode(Mode::Wait));
        }
        if let Some(count) = count {
            let window = Window::from_seconds(60)?;
            let spec = RateLimitSpec::new(Key::new("api")?, count, window)?;
            let spec = spec.with_mode(Mode::Wait).with_style(Style::Sliding)?;
            explicit.rate_limits.push(spec);
        }
        let job = |number: usize| NewJob {
            kind: ["a", "b"][number % 2].into(),
            queue: "default".into(),
            payload: "null".to_owned(),
            priority: 0,
            ready: Ready::Now,
            explicit: explicit.clone(),
        };
        self.store().enqueue((0..JOBS).map(job).collect()).await?;
        Ok(())
    }

    /// Every worker takes turns until nothing is left that could start. Each start is seen once.
    async fn work_it_off(self: &Arc<Self>) -> Outcome {
        let begin = Arc::new(tokio::sync::Barrier::new(WORKERS));
        let tasks: Vec<_> = (0..WORKERS)
            .map(|_| tokio::spawn(Arc::clone(self).work(Arc::clone(&begin))))
            .collect();
        let mut starts = BTreeMap::<JobId, usize>::new();
        for task in tasks {
            for job in task.await?? {
                *starts.entry(job).or_default() += 1;
            }
        }
        assert!(starts.values().all(|&starts| starts == 1), "{starts:?}");
        let counters = self.store().counters().await?;
        assert_eq!(counters.get(Counter::Succeeded), starts.len() as u64);
        assert_eq!(self.running.load(Ordering::SeqCst), 0);
        let audit = self.backend.audit().await;
        audit.map_err(|error| error.to_string())?;
        let slots = self.backend.leftovers().await.map(|(slots, _)| slots);
        assert!(slots.is_none_or(|slots| slots == 0), "slots are left");
        Ok(())
    }

    async fn work(self: Arc<Self>, begin: Arc<tokio::sync::Barrier>) -> Outcome<Vec<JobId>> {
        let new = NewWorker {
            name: "worker".to_owned(),
            queues: ["default".into()].into(),
            kinds: ["a".into(), "b".into()].into(),
            lease: std::time::Duration::from_secs(30),
        };
        let worker = self.store().register(new).await?;
        begin.wait().await;
        let mut starts = Vec::new();
        let mut finished: Vec<Finished> = Vec::new();
        let mut running: Vec<Started> = Vec::new();
        for turn in 0.. {
            // Half of what runs ends before the next turn.
            let ended = running.split_off(running.len() / 2);
            self.running.fetch_sub(ended.len(), Ordering::SeqCst);
            finished.extend(ended.iter().map(|started| Finished {
                job: started.job,
                claim: started.claim,
                end: End::Succeeded,
            }));
            let turn = Dispatch {
                worker,
                turn,
                finished: finished.clone(),
                room: 8 - running.len(),
                fetch: 50,
            };
            let turn = self.store().dispatch(turn, &Explicit).await?;
            assert!(turn.stale.is_empty() && turn.failed.is_empty());
            finished.retain(|finished| turn.left.contains(&finished.claim));
            let now_running = self.running.fetch_add(turn.started.len(), Ordering::SeqCst);
            let now_running = now_running + turn.started.len();
            assert!(now_running <= self.limit, "{now_running} run at once");
            self.most.fetch_max(now_running, Ordering::SeqCst);
            self.started.fetch_add(turn.started.len(), Ordering::SeqCst);
            starts.extend(turn.started.iter().map(|started| started.job));
            running.extend(turn.started);
            if running.is_empty() && finished.is_empty() && !self.can_go_on().await? {
                break;
            }
            tokio::task::yield_now().await;
        }
        self.store().deregister(worker).await?;
        Ok(starts)
    }

    /// Whether somebody still runs, or something is due.
    async fn can_go_on(&self) -> Outcome<bool> {
        for state in [JobState::Processing, JobState::Enqueued] {
            let filter = warp_storage::model::JobFilter {
                state: Some(state),
                limit: 1,
                ..Default::default()
            };
            if !self.store().jobs(filter).await?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Resolves to the explicit policies.
#[derive(Debug)]
struct Explicit;

impl Resolver for Explicit {
    fn resolve(&self, job: &Unresolved) -> Resolution {
        match resolve(&job.explicit, &Declared::NONE, &Declared::NONE, &()) {
            Ok(stamp) => Resolution::Stamp(stamp),
            Err(error) => Resolution::Fail(error.to_string()),
        }
    }

    fn declares_nothing(&self, _kind: &str) -> bool {
        true
    }
}
