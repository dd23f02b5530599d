//! A store, its workers, and what can happen to them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use warp_policy::Timestamp;
use warp_policy::admission::LINE_READ;
use warp_policy::declaration::Declared;
use warp_policy::ids::{JobId, WorkerId};
use warp_policy::precedence::resolve;
use warp_storage::conformance::{DAWN, Scene};
use warp_storage::model::{End, Finished, NewJob, Resolution, Resolver, Sweep, Unresolved};
use warp_storage::{Clock, Store, StoreError};

use crate::Result;
use crate::backend::Backend;
use crate::jobs;
use crate::random::Random;
use crate::witness::Witness;
use crate::worker::{Mood, Worker};

pub(crate) const LEASE: Duration = Duration::from_secs(60);
pub(crate) const MAX_LOST: u32 = 3;

pub(crate) struct World {
    pub(crate) backend: Box<dyn Backend>,
    pub(crate) random: Random,
    pub(crate) workers: Vec<Worker>,
    pub(crate) witness: Witness,
    pub(crate) jobs: BTreeMap<JobId, NewJob>,
    pub(crate) skipped: BTreeSet<JobId>,
    /// Registered workers as the store knows them, those that were killed too.
    pub(crate) known: BTreeSet<WorkerId>,
    /// Whether a worker came or went, or the clock went back, since everybody had a turn.
    pub(crate) is_disturbed: bool,
    /// The latest instant since the clock last went back by more than a second.
    pub(crate) latest: Timestamp,
    /// Until then starts may count that were booked before the clock went back, and that the witness has forgotten.
    pub(crate) odd_until: Timestamp,
    /// Reports that were made, to be made again.
    old_reports: Vec<Finished>,
}

impl World {
    pub(crate) fn new(seed: u64, backend: Box<dyn Backend>) -> Self {
        Self {
            backend,
            random: Random::new(seed),
            workers: Vec::new(),
            witness: Witness::default(),
            jobs: BTreeMap::new(),
            skipped: BTreeSet::new(),
            known: BTreeSet::new(),
            is_disturbed: false,
            latest: DAWN,
            odd_until: DAWN,
            old_reports: Vec::new(),
        }
    }

    pub(crate) fn store(&self) -> &dyn Store {
        self.backend.store()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.backend.clock().now()
    }

    /// Whether the clock went back a little and has not caught up: what was due is then due again in less than a second (R49).
    pub(crate) fn is_behind(&self) -> bool {
        self.now() < self.latest
    }

    pub(crate) async fn enqueue(&mut self) -> Result<()> {
        let jobs = jobs::some(&mut self.random)?;
        let ids = self.store().enqueue(jobs.clone()).await?;
        self.jobs.extend(ids.into_iter().zip(jobs));
        Ok(())
    }

    pub(crate) fn set_clock(&mut self, now: Timestamp) {
        self.backend.clock().set(now);
        if now < self.latest.minus(Duration::from_secs(1)) {
            self.witness.clock_went_back();
            self.odd_until = self
                .odd_until
                .max(self.latest.plus(Duration::from_secs(20)));
            self.latest = now;
            self.is_disturbed = true;
        }
        self.latest = self.latest.max(now);
    }

    pub(crate) async fn a_worker_comes(
        &mut self,
        queues: Vec<&'static str>,
        kinds: Vec<&'static str>,
    ) -> Result<()> {
        let scene = Scene::new(&*self.backend);
        let listener = scene.listen();
        let mut inner = scene.worker_of(&queues, &kinds, LEASE).await?;
        inner.room = 1 + self.random.below(5);
        inner.fetch = inner.room + self.random.below(20);
        self.known.insert(inner.id);
        self.workers.push(Worker {
            inner,
            kinds,
            queues,
            mood: Mood::Works,
            ends: BTreeMap::new(),
            listener,
            wakes_at: Some(self.now()),
        });
        self.is_disturbed = true;
        Ok(())
    }

    /// It stops at once; what it still ran goes back.
    pub(crate) async fn a_worker_leaves(&mut self, index: usize) -> Result<()> {
        let worker = self.workers.swap_remove(index);
        self.is_disturbed = true;
        self.known.remove(&worker.inner.id);
        match self.store().deregister(worker.inner.id).await {
            Ok(()) => {
                for job in self.witness.gone(worker.inner.id) {
                    self.witness.end(job, End::Returned);
                }
                Ok(())
            }
            Err(StoreError::WorkerGone { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) async fn a_worker_drains(&mut self, index: usize) -> Result<()> {
        let id = self.workers[index].inner.id;
        if self.store().drain(id).await.is_ok() {
            self.workers[index].mood = Mood::Drains;
            self.is_disturbed = true;
        }
        Ok(())
    }

    /// Nobody is told: its lease runs out. Until then it holds what it held (R80).
    pub(crate) fn a_worker_dies(&mut self, index: usize) {
        self.workers.swap_remove(index);
        self.is_disturbed = true;
    }

    /// R80, R84, R44.
    pub(crate) async fn sweep(&mut self) -> Result<()> {
        let max_lost = MAX_LOST;
        let swept = self.store().sweep(Sweep { max_lost }).await?;
        for &(dead, number) in &swept.dead {
            let lost = self.witness.gone(dead);
            if !self.known.remove(&dead) || lost.len() != number {
                return Err(format!("{lost:?} were lost with {dead}, not {number} jobs").into());
            }
            for job in lost {
                let history = self.witness.histories.entry(job).or_default();
                history.lost += 1;
                if history.lost == MAX_LOST {
                    let error = "its worker died 3 times; at most 3 are allowed".to_owned();
                    history.end = Some(End::Failed { error });
                }
            }
            self.is_disturbed = true;
        }
        // Beyond what a turn reads of a line, who is left to whom for a second is only known roughly.
        let is_exact = self.waiting().await?.len() <= LINE_READ && !self.is_behind();
        if swept.repaired > 0 && is_exact {
            return Err(format!("{} wake-ups were lost", swept.repaired).into());
        }
        Ok(())
    }

    /// One turn. Returns how much it did, and whether it asks for another turn at once.
    pub(crate) async fn take_turn(&mut self, index: usize) -> Result<(usize, bool)> {
        let now = self.now();
        let before = self.waiting().await?;
        let scene = Scene::new(&*self.backend);
        let worker = &mut self.workers[index];
        // A turn that finds nothing to do need not renew the lease. Whether the worker is gone it hears in its turn.
        let _ = scene.store().heartbeat(worker.inner.id).await;
        let mut finished = Vec::new();
        for job in worker.over(now) {
            worker.ends.remove(&job);
            finished.push(worker.inner.take_out(job, an_end(&mut self.random))?);
        }
        let reported = finished.len();
        if self.random.one_in(30) {
            finished.extend(self.old_reports.pop());
        }
        let had = worker.inner.running.len();
        let turn = match worker.inner.turn(&scene, finished.clone(), &Explicit).await {
            Ok(turn) => turn,
            Err(error) => {
                let is_gone = matches!(error.downcast_ref(), Some(StoreError::WorkerGone { .. }));
                if !is_gone || self.known.contains(&worker.inner.id) {
                    return Err(error);
                }
                // It was declared dead, and begins anew.
                let worker = self.workers.swap_remove(index);
                self.a_worker_comes(worker.queues, worker.kinds).await?;
                return Ok((1, true));
            }
        };
        let repeated: Vec<JobId> = finished[reported..].iter().map(|old| old.job).collect();
        if turn.stale != repeated {
            return Err(format!("{:?} were refused, {repeated:?} were old", turn.stale).into());
        }
        worker.sleep(&turn);
        let asks_again = worker.has_room() && turn.next_at.is_some_and(|at| at <= turn.now);
        let started = worker.inner.running[had..].to_vec();
        for started in &started {
            let takes = match self.random.below(20) {
                0 => self.random.millis(30_000),
                1..5 => Duration::ZERO,
                _ => self.random.millis(4_000),
            };
            worker.ends.insert(started.job, now.plus(takes));
        }
        for report in finished.drain(..reported) {
            self.witness.end(report.job, report.end.clone());
            self.old_reports.push(report);
        }
        self.check_turn(index, &turn, &before).await?;
        Ok((turn.started.len() + turn.refused, asks_again))
    }
}

fn an_end(random: &mut Random) -> End {
    match random.below(9) {
        0 => End::Retry {
            error: "busy".to_owned(),
            after: random.millis(2_000),
        },
        1 => End::Failed {
            error: "broken".to_owned(),
        },
        2 => End::Returned,
        _ => End::Succeeded,
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
