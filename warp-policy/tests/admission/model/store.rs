//! What the store holds, and what happens to it outside a worker's turn.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use warp_policy::Timestamp;
use warp_policy::admission::{
    Control, Demand, Fleet, KeyId, Order, Plan, Route, Server, Turn, Want,
};
use warp_policy::ids::{JobId, LaneId, WorkerId};
use warp_policy::limiter::RateState;

use super::history::History;
use crate::words::{at, route};

/// A job that has not ended.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) id: JobId,
    pub(crate) route: Route,
    pub(crate) priority: i32,
    pub(crate) place: Timestamp,
    pub(crate) demands: Arc<[Demand]>,
    pub(crate) starts: u32,
    pub(crate) phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Ready,
    Waiting(LaneId),
    Running(WorkerId),
}

#[derive(Clone, Debug)]
pub(crate) struct LaneRow {
    pub(crate) route: Route,
    pub(crate) keys: Vec<KeyId>,
    pub(crate) sleeps_on: KeyId,
    pub(crate) next_at: Option<Timestamp>,
    pub(crate) refusals: u32,
    pub(crate) jobs: BTreeSet<Order>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct KeyRow {
    pub(crate) rate: RateState,
    pub(crate) control: Control,
    pub(crate) elder: Option<LaneId>,
    pub(crate) look_at: Option<Timestamp>,
}

#[derive(Clone, Debug)]
pub(crate) struct Worker {
    pub(crate) server: Server,
    pub(crate) capacity: usize,
    pub(crate) draining: bool,
}

#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) now: Timestamp,
    pub(crate) jobs: BTreeMap<JobId, Job>,
    pub(crate) lanes: BTreeMap<LaneId, LaneRow>,
    pub(crate) keys: BTreeMap<KeyId, KeyRow>,
    pub(crate) workers: BTreeMap<WorkerId, Worker>,
    /// Whether lines leave out the routes that were left to others for a second; here also where the line is short.
    pub(crate) leaves_out: bool,
    pub(super) history: History,
    last_id: i64,
}

impl Store {
    pub(crate) fn new() -> Self {
        Self {
            now: at(0),
            jobs: BTreeMap::new(),
            lanes: BTreeMap::new(),
            keys: BTreeMap::new(),
            workers: BTreeMap::new(),
            leaves_out: false,
            history: History::default(),
            last_id: 0,
        }
    }

    pub(super) fn next_id(&mut self) -> i64 {
        self.last_id += 1;
        self.last_id
    }

    /// A ready job of normal priority.
    pub(crate) fn enqueue<const N: usize>(&mut self, kind: &str, demands: [Demand; N]) -> JobId {
        self.enqueue_as(route(kind), 0, Arc::new(demands))
    }

    pub(crate) fn enqueue_as(
        &mut self,
        route: Route,
        priority: i32,
        demands: Arc<[Demand]>,
    ) -> JobId {
        let id = JobId::new(self.next_id());
        let job = Job {
            id,
            route,
            priority,
            place: self.now,
            demands,
            starts: 0,
            phase: Phase::Ready,
        };
        self.jobs.insert(id, job);
        id
    }

    /// A worker in the queue that most tests use.
    pub(crate) fn worker<const N: usize>(&mut self, kinds: [&str; N], capacity: usize) -> WorkerId {
        self.worker_of(&["queue"], &kinds, capacity)
    }

    pub(crate) fn worker_of(
        &mut self,
        queues: &[&str],
        kinds: &[&str],
        capacity: usize,
    ) -> WorkerId {
        let id = WorkerId::new(self.next_id());
        let worker = Worker {
            server: Server {
                id,
                queues: queues.iter().map(|&queue| queue.into()).collect(),
                kinds: kinds.iter().map(|&kind| kind.into()).collect(),
            },
            capacity,
            draining: false,
        };
        self.look_at_lines_of(&worker.server);
        self.workers.insert(id, worker);
        id
    }

    pub(crate) fn drain(&mut self, id: WorkerId) {
        let worker = self.workers.get_mut(&id).expect("a live worker");
        worker.draining = true;
        let server = worker.server.clone();
        self.look_at_lines_of(&server);
    }

    /// A worker dies: its jobs become ready with a new place, its slots are freed.
    pub(crate) fn bury(&mut self, id: WorkerId) {
        let worker = self.workers.remove(&id).expect("a live worker");
        let now = self.now;
        let mut keys = BTreeSet::new();
        for job in self.jobs.values_mut() {
            if job.phase == Phase::Running(id) {
                job.phase = Phase::Ready;
                job.place = now;
                keys.extend(job.slot_keys());
            }
        }
        self.look_at_lines_of(&worker.server);
        self.restore(keys);
    }

    /// Who can run a lane decides who waits behind it, and whether it can be an elder: where a worker comes or goes, all keys of the
    /// lanes that it serves are looked at.
    fn look_at_lines_of(&mut self, server: &Server) {
        for lane in self.lanes.values() {
            if server.serves(&lane.route) {
                for key in &lane.keys {
                    self.keys.entry(key.clone()).or_default().look_at = Some(self.now);
                }
            }
        }
    }

    /// An operator resizes, pauses or resumes a key.
    pub(crate) fn control(&mut self, key: &KeyId, control: Control) {
        self.keys.entry(key.clone()).or_default().control = control;
        self.restore(BTreeSet::from([key.clone()]));
    }

    /// Somebody cancels a job that does not run.
    pub(crate) fn cancel(&mut self, id: JobId) {
        let job = self.jobs.remove(&id).expect("a job that has not ended");
        let Phase::Waiting(lane_id) = job.phase else {
            return;
        };
        let lane = self
            .lanes
            .get_mut(&lane_id)
            .expect("a waiting job has a lane");
        let was_head = lane.jobs.first() == Some(&job.order());
        lane.jobs.remove(&job.order());
        if !was_head {
            return;
        }
        lane.refusals = 0;
        let keys: BTreeSet<KeyId> = lane.keys.iter().cloned().collect();
        if lane.jobs.is_empty() {
            self.lanes.remove(&lane_id);
        }
        for row in self.keys.values_mut() {
            if row.elder == Some(lane_id) {
                row.elder = None;
            }
        }
        self.restore(keys);
    }

    /// Restores the lines of keys that changed outside a worker's turn.
    pub(crate) fn restore(&mut self, keys: BTreeSet<KeyId>) -> Plan {
        let fleet = self.fleet(WorkerId::new(0));
        let keys = keys
            .into_iter()
            .map(|key| (key.clone(), self.key_state(&key, &fleet)))
            .collect();
        self.decide(&Turn {
            now: self.now,
            fleet,
            room: 0,
            candidates: Vec::new(),
            lanes: Vec::new(),
            keys,
        })
    }

    pub(crate) fn fleet(&self, me: WorkerId) -> Fleet {
        let live = self.workers.values().filter(|worker| !worker.draining);
        Fleet {
            me,
            workers: live.map(|worker| worker.server.clone()).collect(),
        }
    }

    pub(crate) fn room(&self, worker: WorkerId) -> usize {
        let running = self
            .jobs
            .values()
            .filter(|job| job.phase == Phase::Running(worker));
        let capacity = self.workers.get(&worker).map_or(0, |row| row.capacity);
        capacity.saturating_sub(running.count())
    }

    /// How many jobs of a concurrency key run.
    pub(crate) fn running(&self, key: &KeyId) -> u32 {
        let holds =
            |job: &&Job| matches!(job.phase, Phase::Running(_)) && job.slot_keys().contains(key);
        u32::try_from(self.jobs.values().filter(holds).count()).expect("few jobs")
    }

    /// The lane in which a job waits.
    pub(crate) fn lane_of(&self, id: JobId) -> Option<(LaneId, &LaneRow)> {
        match self.jobs.get(&id)?.phase {
            Phase::Waiting(lane) => Some((lane, self.lanes.get(&lane)?)),
            _ => None,
        }
    }
}

impl Job {
    pub(crate) fn order(&self) -> Order {
        Order::new(self.priority, self.place, self.id)
    }

    /// The keys of which it holds a slot while it runs (R52).
    pub(crate) fn slot_keys(&self) -> Vec<KeyId> {
        let demands = self.demands.iter();
        let slots = demands.filter(|demand| matches!(demand.want, Want::Slot { .. }));
        slots.map(|demand| demand.key.clone()).collect()
    }

    pub(crate) fn key_set(&self) -> Vec<KeyId> {
        let mut keys: Vec<KeyId> = self
            .demands
            .iter()
            .map(|demand| demand.key.clone())
            .collect();
        keys.sort_unstable();
        keys
    }
}
