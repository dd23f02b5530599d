//! Lets things happen to a store.

mod end;

use std::collections::{BTreeMap, BTreeSet};

use warp_policy::ids::{JobId, WorkerId};

use super::jobs::{KINDS, Profile, QUEUES, any_control, any_key, any_priority, any_route};
use super::rng::Rng;
use crate::model::{Ask, Outcome, Phase, Store};
use crate::words::at;

pub(super) struct Driver {
    seed: u64,
    profile: Profile,
    rng: Rng,
    store: Store,
    /// Time that really passed, and how far the store's clock is behind it, in microseconds.
    elapsed: u64,
    behind: u64,
    /// When the running jobs end, in time that really passed.
    ends: BTreeMap<JobId, u64>,
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
#[expect(dead_code, reason = "shown when a seed fails")]
enum Step {
    Enqueue(JobId),
    Turn(WorkerId, Ask),
    Pass(u64),
    Come(WorkerId),
    Drain(WorkerId),
    Die(WorkerId),
    Control(String),
    Cancel(JobId),
    ClockBack(u64),
    End,
}

impl Driver {
    pub(super) fn new(profile: Profile, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut store = Store::new();
        store.leaves_out = rng.percent(50);
        let mut driver = Self {
            seed,
            profile,
            rng,
            store,
            elapsed: 0,
            behind: 0,
            ends: BTreeMap::new(),
            steps: Vec::new(),
        };
        for _ in 0..3 {
            driver.come();
        }
        driver
    }

    pub(super) fn step(&mut self) {
        match self.rng.below(200) {
            0..50 => self.enqueue(),
            50..120 => self.turn(),
            120..150 => self.pass(),
            150..155 if self.store.workers.len() < 5 => self.come(),
            155..158 => self.drain(),
            158..160 => self.die(),
            160..172 => self.control(),
            172..180 => self.cancel(),
            180..183 => self.clock_back(),
            183..190 => {
                if let Some(worker) = self.any_worker() {
                    self.turns_until_idle(worker);
                }
            }
            _ => {}
        }
    }

    fn enqueue(&mut self) {
        for _ in 0..self.profile.burst(&mut self.rng) {
            let route = any_route(&mut self.rng);
            let priority = any_priority(&mut self.rng);
            let demands = self.profile.demands(&mut self.rng);
            let id = self.store.enqueue_as(route, priority, demands);
            self.steps.push(Step::Enqueue(id));
        }
    }

    fn any_worker(&mut self) -> Option<WorkerId> {
        let workers: Vec<WorkerId> = self.store.workers.keys().copied().collect();
        (!workers.is_empty()).then(|| self.rng.pick(&workers))
    }

    fn turn(&mut self) {
        if let Some(worker) = self.any_worker() {
            let ask = Ask {
                fetch: self.rng.pick(&[1, 2, 5, 500]),
                room: self.rng.pick(&[0, 1, 2, 8, 500]),
                finished: self.finished(worker),
            };
            self.turn_with(worker, ask);
        }
    }

    fn turn_with(&mut self, worker: WorkerId, ask: Ask) -> bool {
        self.steps.push(Step::Turn(worker, ask.clone()));
        for (job, _) in &ask.finished {
            self.ends.remove(job);
        }
        let plan = self.store.turn_with(worker, ask);
        for start in &plan.starts {
            let duration = self.rng.pick(&[1, 30, 30, 200, 200, 2_500]) * 1_000;
            self.ends.insert(start.job, self.elapsed + duration);
        }
        let is_written = plan.starts.len() + plan.waits.len() + plan.skips.len();
        let is_gone = self.store.workers[&worker].draining
            && self.store.room(worker) == self.store.workers[&worker].capacity;
        if is_gone {
            self.store.workers.remove(&worker);
        }
        is_written + plan.lanes.len() > 0
    }

    fn finished(&mut self, worker: WorkerId) -> Vec<(JobId, Outcome)> {
        let is_over = |id: &JobId| self.ends[id] <= self.elapsed;
        let jobs = self.store.jobs.values();
        let running = jobs.filter(|job| job.phase == Phase::Running(worker));
        let over: Vec<JobId> = running.map(|job| job.id).filter(is_over).collect();
        let mut outcome = |id: JobId| match self.rng.below(10) {
            0..2 if self.store.jobs[&id].starts < 3 => Outcome::Retry(self.rng.pick(&[0, 100])),
            2 if self.store.jobs[&id].starts < 3 => Outcome::Returned,
            _ => Outcome::Done,
        };
        over.into_iter().map(|id| (id, outcome(id))).collect()
    }

    fn pass(&mut self) {
        let micros = match self.rng.below(10) {
            0..4 => self.rng.below(50_000),
            4 => 1_000 * self.rng.below(1_500),
            5 => 0,
            _ => self.until_next_event().unwrap_or(0),
        };
        self.steps.push(Step::Pass(micros));
        self.pass_by(micros);
    }

    fn pass_by(&mut self, micros: u64) {
        self.elapsed += micros;
        self.store.now = at(0).plus_micros(self.elapsed).minus_micros(self.behind);
    }

    fn come(&mut self) {
        let mut kinds = KINDS.to_vec();
        kinds.retain(|_| self.rng.percent(60));
        let queues = self
            .rng
            .pick(&[&QUEUES[..], &QUEUES[..], &QUEUES[..1], &QUEUES[1..]]);
        let capacity = self.profile.capacity(&mut self.rng);
        let id = self.store.worker_of(queues, &kinds, capacity);
        self.steps.push(Step::Come(id));
    }

    fn drain(&mut self) {
        if let Some(worker) = self.any_worker() {
            self.steps.push(Step::Drain(worker));
            self.store.drain(worker);
        }
    }

    fn die(&mut self) {
        if let Some(worker) = self.any_worker() {
            self.steps.push(Step::Die(worker));
            self.store.bury(worker);
            let jobs = &self.store.jobs;
            self.ends
                .retain(|id, _| matches!(jobs[id].phase, Phase::Running(_)));
        }
    }

    fn control(&mut self) {
        let key = any_key(&mut self.rng);
        let control = any_control(&mut self.rng, &key);
        self.steps
            .push(Step::Control(format!("{key}: {control:?}")));
        self.store.control(&key, control);
    }

    fn cancel(&mut self) {
        let jobs = self.store.jobs.values();
        let resting = jobs.filter(|job| !matches!(job.phase, Phase::Running(_)));
        let ids: Vec<JobId> = resting.map(|job| job.id).collect();
        if !ids.is_empty() {
            let id = self.rng.pick(&ids);
            self.steps.push(Step::Cancel(id));
            self.store.cancel(id);
        }
    }

    /// The store's clock goes back, and its sweep restores all lines: their instants were on the clock as it was before.
    fn clock_back(&mut self) {
        let micros = 1_000 * self.rng.pick(&[1, 400, 999, 1_001, 5_000, 3_600_000]);
        self.steps.push(Step::ClockBack(micros));
        self.behind += micros;
        self.pass_by(0);
        let keys: BTreeSet<_> = self.store.keys.keys().cloned().collect();
        self.store.restore(keys);
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let last = self.steps.len().saturating_sub(25);
            println!("the last steps: {:#?}", &self.steps[last..]);
            println!(
                "{:?}: run again with ADMISSION_SEED={}",
                self.profile, self.seed
            );
        }
    }
}
