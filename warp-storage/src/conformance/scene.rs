//! What the laws are told with: policies in a word, workers that take turns by hand.

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use warp_policy::declaration::Declared;
use warp_policy::ids::{JobId, WorkerId};
use warp_policy::precedence::{ExplicitPolicies, resolve};
use warp_policy::{ConcurrencySpec, Key, Mode, RateLimitSpec, Stamp, Style, Window};

use super::{DAWN, Harness};
use crate::model::{
    Dispatch, Dispatched, End, Finished, Job, JobState, NewJob, NewWorker, Ready, Resolution,
    Resolver, Started, Unresolved,
};
use crate::store::Store;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The queue of jobs and workers that name none.
const QUEUE: &str = "default";

/// A store with a clock to move.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    harness: &'a dyn Harness,
}

impl std::fmt::Debug for Scene<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Scene").field(&self.store()).finish()
    }
}

impl<'a> Scene<'a> {
    /// A scene on this harness.
    pub fn new(harness: &'a dyn Harness) -> Self {
        Self { harness }
    }

    /// The store.
    pub fn store(&self) -> &'a dyn Store {
        self.harness.store()
    }

    /// The harness.
    pub fn harness(&self) -> &'a dyn Harness {
        self.harness
    }

    /// Lets the clock stand at `seconds` after [`DAWN`].
    pub fn at(&self, seconds: f64) {
        self.harness
            .clock()
            .set(DAWN.plus(Duration::from_secs_f64(seconds)));
    }

    /// Enqueues a job that becomes ready at once.
    pub async fn enqueue(&self, kind: &str, explicit: ExplicitPolicies) -> Result<JobId> {
        self.enqueue_as(NewJob {
            explicit,
            ..new_job(kind)
        })
        .await
    }

    /// Enqueues a job with a priority.
    pub async fn enqueue_with_priority(
        &self,
        kind: &str,
        priority: i32,
        explicit: ExplicitPolicies,
    ) -> Result<JobId> {
        self.enqueue_as(NewJob {
            priority,
            explicit,
            ..new_job(kind)
        })
        .await
    }

    /// Enqueues a job.
    pub async fn enqueue_as(&self, job: NewJob) -> Result<JobId> {
        Ok(self.enqueue_many(vec![job]).await?[0])
    }

    /// Enqueues many jobs.
    pub async fn enqueue_many(&self, jobs: Vec<NewJob>) -> Result<Vec<JobId>> {
        Ok(self.store().enqueue(jobs).await?)
    }

    /// A job that must exist.
    pub async fn job(&self, id: JobId) -> Result<Job> {
        Ok(self.store().job(id).await?.ok_or("the job is gone")?)
    }

    /// Where a job is in its life.
    pub async fn state(&self, id: JobId) -> Result<JobState> {
        Ok(self.job(id).await?.state)
    }

    /// A worker for these kinds, on the queue of all jobs that name none, with room for ten.
    pub async fn worker(&self, kinds: &[&str]) -> Result<TestWorker> {
        self.worker_on(QUEUE, kinds, Duration::from_hours(24 * 365))
            .await
    }

    /// A worker for these kinds, with a queue and a lease.
    pub async fn worker_on(
        &self,
        queue: &str,
        kinds: &[&str],
        lease: Duration,
    ) -> Result<TestWorker> {
        let kinds = kinds.iter().map(|&kind| Arc::from(kind)).collect();
        let queues = BTreeSet::from([Arc::from(queue)]);
        let id = self
            .store()
            .register(NewWorker {
                name: "law".to_owned(),
                queues,
                kinds,
                lease,
            })
            .await?;
        Ok(TestWorker {
            id,
            room: 10,
            fetch: 0,
            running: Vec::new(),
            turn: 0,
        })
    }
}

/// A job of a kind: ready at once, without policies.
pub(super) fn new_job(kind: &str) -> NewJob {
    NewJob {
        kind: kind.into(),
        queue: QUEUE.into(),
        payload: "null".to_owned(),
        priority: 0,
        ready: Ready::Now,
        explicit: ExplicitPolicies::default(),
    }
}

/// A worker whose turns the law takes.
#[derive(Debug)]
pub struct TestWorker {
    /// Its id.
    pub id: WorkerId,
    /// How many jobs it runs at most.
    pub room: usize,
    /// How many ready jobs it reads at least.
    pub fetch: usize,
    /// What it runs.
    pub running: Vec<Started>,
    turn: u64,
}

impl TestWorker {
    /// One turn that starts what it can. Returns the jobs it started.
    pub async fn start(&mut self, scene: &Scene<'_>) -> Result<Vec<JobId>> {
        Ok(ids(&self.turn(scene, Vec::new(), &Explicit).await?))
    }

    /// One turn that ends a job it runs, and starts what it can.
    pub async fn end(&mut self, scene: &Scene<'_>, job: JobId, end: End) -> Result<Vec<JobId>> {
        let at = self
            .running
            .iter()
            .position(|started| started.job == job)
            .ok_or("it does not run")?;
        let claim = self.running.remove(at).claim;
        Ok(ids(&self
            .turn(scene, vec![Finished { job, claim, end }], &Explicit)
            .await?))
    }

    /// Turns until one more would find nothing. Returns the jobs it started. Fails where that takes too long: the worker would spin.
    pub async fn settle(&mut self, scene: &Scene<'_>) -> Result<Vec<JobId>> {
        let mut started = Vec::new();
        for _ in 0..5_000 {
            let turn = self.turn(scene, Vec::new(), &Explicit).await?;
            started.extend(ids(&turn));
            let has_more = turn.next_at.is_some_and(|at| at <= turn.now);
            if !has_more || self.running.len() >= self.room {
                return Ok(started);
            }
        }
        Err("the worker spins".into())
    }

    /// One turn with everything said.
    pub async fn turn(
        &mut self,
        scene: &Scene<'_>,
        finished: Vec<Finished>,
        resolver: &dyn Resolver,
    ) -> Result<Dispatched> {
        let room = self.room.saturating_sub(self.running.len());
        self.turn += 1;
        let turn = Dispatch {
            worker: self.id,
            turn: self.turn,
            finished,
            room,
            fetch: self.fetch.max(room),
        };
        let dispatched = scene.store().dispatch(turn, resolver).await?;
        assert!(
            dispatched.started.len() <= room,
            "it started more than it had room for"
        );
        self.running.extend(dispatched.started.iter().cloned());
        Ok(dispatched)
    }
}

fn ids(turn: &Dispatched) -> Vec<JobId> {
    turn.started.iter().map(|started| started.job).collect()
}

/// Resolves to the explicit policies: a job has no others in a law.
#[derive(Debug)]
pub(super) struct Explicit;

impl Resolver for Explicit {
    fn resolve(&self, job: &Unresolved) -> Resolution {
        match resolve(&job.explicit, &Declared::NONE, &Declared::NONE, &()) {
            Ok(stamp) => Resolution::Stamp(stamp),
            Err(error) => Resolution::Fail(error.to_string()),
        }
    }
}

/// The stamp of a job, which must have one.
pub(super) fn stamp(job: &Job) -> Result<&Stamp> {
    Ok(job
        .stamp
        .as_ref()
        .ok_or("no stamp")?
        .as_ref()
        .map_err(Clone::clone)?)
}

/// No policy.
pub(super) fn free() -> ExplicitPolicies {
    ExplicitPolicies::default()
}

/// A mutex.
pub(super) fn mutex(key: &str, mode: Mode) -> Result<ExplicitPolicies> {
    semaphore(key, 1, mode)
}

/// A semaphore.
pub(super) fn semaphore(key: &str, limit: u32, mode: Mode) -> Result<ExplicitPolicies> {
    let spec = ConcurrencySpec::semaphore(Key::new(key)?, limit)?.with_mode(mode);
    Ok(ExplicitPolicies {
        concurrency: Some(spec),
        rate_limits: Vec::new(),
    })
}

/// A rate limit.
pub(super) fn rate(
    key: &str,
    count: u32,
    seconds: u64,
    style: Style,
    mode: Mode,
) -> Result<ExplicitPolicies> {
    let window = Window::from_duration(Duration::from_secs(seconds))?;
    let spec = RateLimitSpec::new(Key::new(key)?, count, window)?
        .with_mode(mode)
        .with_style(style)?;
    Ok(ExplicitPolicies {
        concurrency: None,
        rate_limits: vec![spec],
    })
}

/// Both.
pub(super) fn both(mut one: ExplicitPolicies, other: ExplicitPolicies) -> ExplicitPolicies {
    one.concurrency = one.concurrency.or(other.concurrency);
    one.rate_limits.extend(other.rate_limits);
    one
}
