//! A store, workers that come, go and die, and a clock that jumps.

use std::collections::BTreeMap;
use std::time::Duration;

use warp_policy::admission::Order;
use warp_policy::ids::JobId;
use warp_policy::precedence::ExplicitPolicies;
use warp_policy::{ConcurrencySpec, Key, Mode, RateLimitSpec, Timestamp, Window};
use warp_storage::conformance::{DAWN, Harness, Scene, TestWorker};
use warp_storage::model::{End, Event, JobFilter, JobState, NewJob, Ready, Started, Sweep};
use warp_storage::{Clock, ManualClock, Memory, Store, StoreError};

use crate::Result;
use crate::random::Random;
use crate::witness::{RATES, Witness, keys, policies_skip};

const LEASE: Duration = Duration::from_secs(60);
const KINDS: [&str; 3] = ["a", "b", "c"];
struct InMemory {
    memory: Memory,
    clock: ManualClock,
}

impl Harness for InMemory {
    fn store(&self) -> &dyn Store {
        &self.memory
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }
}

pub(crate) struct World {
    store: InMemory,
    random: Random,
    workers: Vec<Worker>,
    witness: Witness,
    jobs: BTreeMap<JobId, NewJob>,
    /// Whether every worker has had its say since the fleet last changed, and the clock never went back.
    is_calm: bool,
    went_back: bool,
    /// The latest instant since the clock last went back by more than a second.
    latest: Timestamp,
}

struct Worker {
    inner: TestWorker,
    kinds: Vec<&'static str>,
    ends: BTreeMap<JobId, Timestamp>,
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let clock = ManualClock::new(DAWN);
        let store = InMemory {
            memory: Memory::with_clock(clock.clone()),
            clock,
        };
        Self {
            store,
            random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            workers: Vec::new(),
            witness: Witness::default(),
            jobs: BTreeMap::new(),
            is_calm: true,
            went_back: false,
            latest: DAWN,
        }
    }

    pub(crate) async fn live(&mut self) -> Result<()> {
        for _ in 0..250 {
            match self.random.below(100) {
                0..25 => self.enqueue().await?,
                25..75 => self.somebody_takes_a_turn().await?,
                75..90 => self.time_passes(),
                90..93 => self.a_worker_comes(None).await?,
                93..95 => self.a_worker_leaves().await?,
                95..96 => self.a_worker_dies(),
                _ => self.sweep().await?,
            }
        }
        self.finish().await
    }

    async fn enqueue(&mut self) -> Result<()> {
        for _ in 0..=self.random.below(4) {
            let mut explicit = ExplicitPolicies::default();
            let mode = if self.random.below(4) == 0 {
                Mode::Skip
            } else {
                Mode::Wait
            };
            if self.random.below(3) > 0 {
                let key = Key::new(["k0", "k1", "k2"][self.random.below(3)])?;
                let limit = u32::try_from(1 + self.random.below(3))?;
                explicit.concurrency =
                    Some(ConcurrencySpec::semaphore(key, limit)?.with_mode(mode));
            }
            for (key, style, count, seconds) in RATES {
                if self.random.below(4) == 0 {
                    let window = Window::from_duration(Duration::from_secs(seconds))?;
                    let spec = RateLimitSpec::new(Key::new(key)?, count, window)?
                        .with_mode(mode)
                        .with_style(style)?;
                    explicit.rate_limits.push(spec);
                }
            }
            let ready = match self.random.below(5) {
                0 => Ready::In(Duration::from_millis(self.random.below(3_000) as u64)),
                _ => Ready::Now,
            };
            let job = NewJob {
                kind: KINDS[self.random.below(3)].into(),
                queue: "default".into(),
                payload: "null".to_owned(),
                priority: [0, 0, 0, 1, -1][self.random.below(5)],
                ready,
                explicit,
            };
            let id = self.store.memory.enqueue(vec![job.clone()]).await?[0];
            self.jobs.insert(id, job);
        }
        Ok(())
    }

    fn time_passes(&mut self) {
        let clock = &self.store.clock;
        match self.random.below(60) {
            0 => clock.advance(Duration::from_secs(100)),
            1 => clock.set(
                clock
                    .now()
                    .minus(Duration::from_millis(self.random.below(900) as u64)),
            ),
            2 => clock.set(
                clock
                    .now()
                    .minus(Duration::from_secs(2 + self.random.below(50) as u64)),
            ),
            _ => clock.advance(Duration::from_millis(self.random.below(2_000) as u64)),
        }
        let now = clock.now();
        self.went_back |= now < self.latest;
        if now < self.latest.minus(Duration::from_secs(1)) {
            // The known starts may have been moved to any instant since (R49); the witness begins anew.
            self.witness.starts.clear();
            self.latest = now;
        }
        self.latest = self.latest.max(now);
    }

    async fn a_worker_comes(&mut self, kinds: Option<Vec<&'static str>>) -> Result<()> {
        let kinds = kinds.unwrap_or_else(|| {
            KINDS
                .into_iter()
                .filter(|_| self.random.below(2) == 0)
                .collect()
        });
        let scene = Scene::new(&self.store);
        let mut inner = scene.worker_on("default", &kinds, LEASE).await?;
        inner.room = 1 + self.random.below(5);
        inner.fetch = inner.room + self.random.below(20);
        self.workers.push(Worker {
            inner,
            kinds,
            ends: BTreeMap::new(),
        });
        self.is_calm = false;
        Ok(())
    }

    async fn a_worker_leaves(&mut self) -> Result<()> {
        if self.workers.is_empty() {
            return Ok(());
        }
        let worker = self
            .workers
            .swap_remove(self.random.below(self.workers.len()));
        self.witness.forget(&worker.inner.running);
        self.is_calm = false;
        match self.store.memory.deregister(worker.inner.id).await {
            Err(StoreError::WorkerGone { .. }) | Ok(()) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Nobody is told; its lease runs out.
    fn a_worker_dies(&mut self) {
        if let Some(worker) = self.workers.pop() {
            self.witness.forget(&worker.inner.running);
            self.is_calm = false;
        }
    }

    async fn sweep(&mut self) -> Result<()> {
        let swept = self.store.memory.sweep(Sweep { max_lost: 1_000 }).await?;
        for (dead, _) in &swept.dead {
            // It was silent for its lease, by a jump of the clock; what it still does is not promised.
            if let Some(index) = self
                .workers
                .iter()
                .position(|worker| worker.inner.id == *dead)
            {
                let worker = self.workers.swap_remove(index);
                self.witness.forget(&worker.inner.running);
            }
            self.is_calm = false;
        }
        if swept.repaired > 0 && self.is_calm && !self.went_back {
            return Err(format!("{} wake-ups were lost", swept.repaired).into());
        }
        Ok(())
    }

    async fn somebody_takes_a_turn(&mut self) -> Result<()> {
        if self.workers.is_empty() {
            return self.a_worker_comes(None).await;
        }
        let index = self.random.below(self.workers.len());
        self.take_turn(index).await?;
        Ok(())
    }

    /// Ends what is over and starts what can be, until there is nothing more. Returns when there will be.
    async fn take_turn(&mut self, index: usize) -> Result<Option<Timestamp>> {
        for _ in 0..1_000 {
            let now = self.store.clock.now();
            let scene = Scene::new(&self.store);
            let worker = &mut self.workers[index];
            let over: Vec<JobId> = worker
                .ends
                .iter()
                .filter(|&(_, &at)| at <= now)
                .map(|(&id, _)| id)
                .collect();
            let mut finished = Vec::new();
            for id in over {
                worker.ends.remove(&id);
                let at = worker
                    .inner
                    .running
                    .iter()
                    .position(|started| started.job == id)
                    .ok_or("not running")?;
                let started = worker.inner.running.remove(at);
                self.witness.forget(std::slice::from_ref(&started));
                let end = match self.random.below(8) {
                    0 => End::Retry {
                        error: "busy".to_owned(),
                        after: Duration::from_millis(500),
                    },
                    1 => End::Failed {
                        error: "broken".to_owned(),
                    },
                    2 => End::Returned,
                    _ => End::Succeeded,
                };
                finished.push(warp_storage::model::Finished {
                    job: id,
                    claim: started.claim,
                    end,
                });
            }
            let had = worker.inner.running.len();
            let turn = match worker.inner.turn(&scene, finished, &Resolve).await {
                Ok(turn) => turn,
                Err(error)
                    if matches!(error.downcast_ref(), Some(StoreError::WorkerGone { .. })) =>
                {
                    let worker = self.workers.swap_remove(index);
                    self.witness.forget(&worker.inner.running);
                    self.is_calm = false;
                    return Ok(None);
                }
                Err(error) => return Err(error),
            };
            if !turn.stale.is_empty() {
                return Err("a result of a live worker was refused".into());
            }
            let started = worker.inner.running[had..].to_vec();
            for started in &started {
                if !worker.kinds.contains(&&*started.kind) {
                    return Err("it got a job of a kind that it lacks".into());
                }
                let takes = Duration::from_millis(self.random.below(4_000) as u64);
                worker.ends.insert(started.job, now.plus(takes));
            }
            let has_room = worker.inner.running.len() < worker.inner.room;
            self.check(&started).await?;
            if !has_room {
                return Ok(None);
            }
            if turn.next_at.is_none_or(|at| at > turn.now) {
                return Ok(turn.next_at);
            }
        }
        Err("the worker spins".into())
    }

    /// What must hold of jobs that have just started.
    async fn check(&mut self, started: &[Started]) -> Result<()> {
        let waiting = JobFilter {
            state: Some(JobState::Waiting),
            limit: usize::MAX,
            ..JobFilter::default()
        };
        let waiting = self.store.memory.jobs(waiting).await?;
        for started in started {
            let job = &self.jobs[&started.job];
            self.witness.start(started, &job.explicit)?;
            let view = self.store.memory.job(started.job).await?.ok_or("gone")?;
            let order =
                |view: &warp_storage::model::Job| Order::new(view.priority, view.place, view.id);
            let overtaken = waiting.iter().find(|other| {
                let other_job = &self.jobs[&other.id];
                let same_keys = keys(&other_job.explicit) == keys(&job.explicit);
                other.kind == view.kind && same_keys && order(other) < order(&view)
            });
            if let Some(other) = overtaken {
                return Err(
                    format!("job {} overtook {} in its own lane", started.job, other.id).into(),
                );
            }
        }
        Ok(())
    }

    /// Everything ends once somebody serves every kind, and nothing is left.
    async fn finish(&mut self) -> Result<()> {
        self.a_worker_comes(Some(KINDS.to_vec())).await?;
        for _ in 0..20_000 {
            let mut next = self.store.clock.now().plus(Duration::from_secs(1));
            for index in (0..self.workers.len()).rev() {
                if let Some(at) = self.take_turn(index).await? {
                    next = next.min(at);
                }
            }
            for worker in &self.workers {
                next = worker.ends.values().copied().fold(next, Timestamp::min);
            }
            self.is_calm = true;
            self.sweep().await?;
            let mut left = false;
            for state in [
                JobState::Scheduled,
                JobState::Enqueued,
                JobState::Waiting,
                JobState::Processing,
            ] {
                let one = JobFilter {
                    state: Some(state),
                    limit: 1,
                    ..JobFilter::default()
                };
                left |= !self.store.memory.jobs(one).await?.is_empty();
            }
            if !left {
                return self.check_the_end().await;
            }
            self.store
                .clock
                .set(next.max(self.store.clock.now().plus_micros(1)));
        }
        Err("jobs are left".into())
    }

    async fn check_the_end(&self) -> Result<()> {
        if self.witness.running.values().any(|jobs| !jobs.is_empty()) {
            return Err("something still runs".into());
        }
        for (&id, job) in &self.jobs {
            let log = self.store.memory.log(id).await?;
            let ends = log.iter().filter(|entry| {
                matches!(
                    entry.event,
                    Event::Succeeded | Event::Failed { .. } | Event::Skipped(_)
                )
            });
            if ends.count() != 1 {
                return Err(format!("job {id} was not recorded exactly once: {log:?}").into());
            }
            let was_skipped = log
                .iter()
                .any(|entry| matches!(entry.event, Event::Skipped(_)));
            let may_skip = policies_skip(&job.explicit);
            if was_skipped && (!may_skip || self.witness.started.contains(&id)) {
                return Err(
                    format!("job {id} was skipped, but it waits, or had started: {log:?}").into(),
                );
            }
        }
        Ok(())
    }
}

/// Resolves to the explicit policies.
#[derive(Debug)]
struct Resolve;

impl warp_storage::model::Resolver for Resolve {
    fn resolve(&self, job: &warp_storage::model::Unresolved) -> warp_storage::model::Resolution {
        use warp_policy::declaration::Declared;
        match warp_policy::precedence::resolve(&job.explicit, &Declared::NONE, &Declared::NONE, &())
        {
            Ok(stamp) => warp_storage::model::Resolution::Stamp(stamp),
            Err(error) => warp_storage::model::Resolution::Fail(error.to_string()),
        }
    }
}
