//! What the laws are told with: policies in a word, workers that take turns by hand.

use std::error::Error;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use warp_policy::Stamp;
use warp_policy::declaration::Declared;
use warp_policy::ids::{JobId, WorkerId};
use warp_policy::precedence::{ExplicitPolicies, resolve};

use super::{DAWN, Harness};
use crate::clock::Clock;
use crate::model::{
    Dispatch, Dispatched, End, Finished, Job, JobState, NewJob, NewWorker, Ready, Resolution,
    Resolver, Started, Sweep, Swept, Unresolved,
};
use crate::store::{Changes, Store};

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

    /// Listens to what the store announces from now on.
    pub fn listen(&self) -> Listener {
        Listener(self.store().changes())
    }

    /// A sweep that lets a job be lost twice.
    pub async fn sweep(&self) -> Result<Swept> {
        Ok(self.store().sweep(Sweep { max_lost: 3 }).await?)
    }

    /// Gives up a job that a worker runs, as if its end could not be written. It may be lost twice.
    pub async fn disown(&self, worker: &mut TestWorker, job: JobId) -> Result<Finished> {
        let given_up = worker.take_out(job, End::Succeeded)?;
        let error = "no space".to_owned();
        let sweep = Sweep { max_lost: 3 };
        let disown = self.store().disown(worker.id, given_up.claim, error, sweep);
        disown.await?;
        Ok(given_up)
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
        self.worker_of(&[queue], kinds, lease).await
    }

    /// A worker for these kinds, with queues and a lease.
    pub async fn worker_of(
        &self,
        queues: &[&str],
        kinds: &[&str],
        lease: Duration,
    ) -> Result<TestWorker> {
        let set = |names: &[&str]| names.iter().map(|&name| Arc::from(name)).collect();
        let worker = NewWorker {
            name: "law".to_owned(),
            queues: set(queues),
            kinds: set(kinds),
            lease,
        };
        let id = self.store().register(worker).await?;
        Ok(TestWorker {
            id,
            room: 10,
            fetch: 0,
            running: Vec::new(),
            left: Vec::new(),
            turn: 0,
        })
    }
}

/// Hears what a store announces.
#[derive(Debug)]
pub struct Listener(Changes);

impl Listener {
    /// Whether anything was announced since it was asked last.
    pub fn heard(&mut self) -> bool {
        let changed = std::pin::pin!(self.0.changed());
        changed
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_ready()
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
    /// Results that could not be written yet; its next turn brings them again.
    pub left: Vec<Finished>,
    turn: u64,
}

impl TestWorker {
    /// One turn that starts what it can. Returns the jobs it started.
    pub async fn start(&mut self, scene: &Scene<'_>) -> Result<Vec<JobId>> {
        Ok(ids(&self.turn(scene, Vec::new(), &Explicit).await?))
    }

    /// One turn that ends a job it runs, and starts what it can.
    pub async fn end(&mut self, scene: &Scene<'_>, job: JobId, end: End) -> Result<Vec<JobId>> {
        let finished = vec![self.take_out(job, end)?];
        Ok(ids(&self.turn(scene, finished, &Explicit).await?))
    }

    /// One turn that ends jobs, and starts what it can.
    pub async fn turn_with(
        &mut self,
        scene: &Scene<'_>,
        finished: Vec<Finished>,
    ) -> Result<Dispatched> {
        self.turn(scene, finished, &Explicit).await
    }

    /// A job that it runs no longer, as it is reported.
    pub fn take_out(&mut self, job: JobId, end: End) -> Result<Finished> {
        let mut running = self.running.iter();
        let at = running.position(|started| started.job == job);
        let claim = self.running.remove(at.ok_or("it does not run")?).claim;
        Ok(Finished { job, claim, end })
    }

    /// Turns and instants, one after the other, until nothing is announced any more. Each job it starts ends well after `takes`.
    /// Returns the jobs with the instants of their starts, in seconds after [`DAWN`].
    pub async fn work_off(
        &mut self,
        scene: &Scene<'_>,
        takes: Duration,
    ) -> Result<Vec<(JobId, f64)>> {
        let clock = scene.harness().clock();
        let mut starts = Vec::new();
        let mut ends = Vec::new();
        loop {
            let mut finished = Vec::new();
            while ends.first().is_some_and(|&(at, _)| at <= clock.now()) {
                let (_, job) = ends.remove(0);
                finished.push(self.take_out(job, End::Succeeded)?);
            }
            let turn = self.turn(scene, finished, &Explicit).await?;
            for started in &turn.started {
                starts.push((started.job, started.admitted_at.since(DAWN).as_secs_f64()));
                ends.push((turn.now.plus(takes), started.job));
            }
            let has_room = self.running.len() < self.room;
            let turn_at = turn.next_at.filter(|_| has_room);
            let ends_at = ends.first().map(|&(at, _)| at);
            match turn_at.into_iter().chain(ends_at).min() {
                Some(at) => clock.set(at.max(turn.now)),
                None => return Ok(starts),
            }
        }
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
        let mut brought = std::mem::take(&mut self.left);
        brought.extend(finished);
        let turn = Dispatch {
            worker: self.id,
            turn: self.turn,
            finished: brought.clone(),
            room,
            fetch: self.fetch.max(room),
        };
        let dispatched = scene.store().dispatch(turn, resolver).await?;
        brought.retain(|finished| dispatched.left.contains(&finished.claim));
        self.left = brought;
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

    fn declares_nothing(&self, _kind: &str) -> bool {
        true
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

/// An attempt that failed and is repeated after this time.
pub(super) fn retry(after: Duration) -> End {
    End::Retry {
        error: "busy".to_owned(),
        after,
    }
}
