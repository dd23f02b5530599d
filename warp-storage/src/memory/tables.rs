//! The tables with their indexes. Rows change only here, so that no index is ever behind.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use warp_policy::Timestamp;
use warp_policy::admission::{Fleet, KeyId, Order, Route};
use warp_policy::ids::{ClaimId, JobId, LaneId, WorkerId};

use super::lines::Lines;
use super::rows::{JobRow, LaneRow, LimiterRow, Phase, StampCell, WorkerRow};
use crate::model::{
    Counter, Counters, Event, Job, JobFilter, JobState, LogEntry, NewJob, Ready, Waiting,
};

const MICROS_PER_HOUR: i64 = 3_600_000_000;

/// How far the clock may step back without being noticed, as for the limiters (R49).
const CLOCK_TOLERANCE_MICROS: u64 = 1_000_000;

#[derive(Debug, Default)]
pub(super) struct Tables {
    /// The fingerprint of the secret behind hashed fields of keys.
    pub(super) key_secret: Option<String>,
    pub(super) jobs: BTreeMap<JobId, JobRow>,
    pub(super) ready: HashMap<Route, BTreeSet<Order>>,
    pub(super) scheduled: HashMap<Route, BTreeSet<(Timestamp, JobId)>>,
    pub(super) lanes: BTreeMap<LaneId, LaneRow>,
    pub(super) lane_of: HashMap<(Route, Vec<KeyId>), LaneId>,
    pub(super) lines: Lines,
    pub(super) limiters: BTreeMap<KeyId, LimiterRow>,
    pub(super) looks: BTreeSet<(Timestamp, KeyId)>,
    pub(super) workers: BTreeMap<WorkerId, WorkerRow>,
    pub(super) operations: Operations,
    counts: BTreeMap<(Counter, i64, WorkerId), u64>,
    last_id: i64,
    /// Waiting jobs that failed because of their rows; the next turn reports them.
    pub(super) unreadable: Vec<(JobId, String)>,
    /// The keys of lanes that went because their jobs could not be judged.
    pub(super) kept_by_nobody: BTreeSet<KeyId>,
    /// Where the last sweep stopped: among the keys with a line, and among the limiters.
    pub(super) repaired_to: Option<KeyId>,
    pub(super) forgotten_to: Option<KeyId>,
    /// The latest instant of the clock, since it last went back.
    latest: Timestamp,
}

/// How much a store has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// Dispatch turns.
    pub turns: u64,
    /// Ready jobs that were judged.
    pub candidates: u64,
    /// Lanes that were judged.
    pub lanes: u64,
    /// Writes of a job's row.
    pub job_writes: u64,
    /// Writes of a lane's row.
    pub lane_writes: u64,
    /// Writes of a limiter's row.
    pub limiter_writes: u64,
}

impl Tables {
    fn next_id(&mut self) -> i64 {
        self.last_id += 1;
        self.last_id
    }

    pub(super) fn next_claim(&mut self) -> ClaimId {
        ClaimId::new(self.next_id())
    }

    pub(super) fn next_worker(&mut self) -> WorkerId {
        WorkerId::new(self.next_id())
    }

    // Jobs.

    pub(super) fn insert_job(&mut self, job: NewJob, now: Timestamp) -> JobId {
        let id = JobId::new(self.next_id());
        let place = match job.ready {
            Ready::Now => now,
            Ready::In(delay) => now.plus(delay),
            Ready::At(at) => at.max(now),
        };
        let row = JobRow {
            id,
            route: Route {
                queue: job.queue,
                kind: job.kind,
            },
            payload: job.payload,
            priority: job.priority,
            explicit: job.explicit,
            stamp: None,
            place,
            phase: if place > now {
                Phase::Scheduled
            } else {
                Phase::Enqueued
            },
            attempts: 0,
            starts: 0,
            lost: 0,
            enqueued_at: now,
            admitted_at: None,
            cancelled_at: None,
            ended_at: None,
            error: None,
            holds: Vec::new(),
            log: vec![LogEntry {
                at: now,
                worker: None,
                event: Event::Enqueued { place },
            }],
            writes: 1,
        };
        self.operations.job_writes += 1;
        self.jobs.insert(id, row);
        self.index_job(id);
        id
    }

    /// One write of a job's row.
    pub(super) fn write_job(&mut self, id: JobId, change: impl FnOnce(&mut JobRow)) {
        self.unindex_job(id);
        if let Some(row) = self.jobs.get_mut(&id) {
            change(row);
            row.writes += 1;
            self.operations.job_writes += 1;
        }
        self.index_job(id);
    }

    /// Makes due jobs visible to the fetch. No write: their rows already say when they are ready.
    pub(super) fn promote_due(&mut self, route: &Route, now: Timestamp) {
        while let Some(&(place, id)) = self.scheduled.get(route).and_then(BTreeSet::first)
            && place <= now
        {
            self.unindex_job(id);
            if let Some(row) = self.jobs.get_mut(&id) {
                row.phase = Phase::Enqueued;
            }
            self.index_job(id);
        }
    }

    fn index_job(&mut self, id: JobId) {
        let Some(row) = self.jobs.get(&id) else {
            return;
        };
        let (order, route) = (row.order(), row.route.clone());
        match row.phase {
            Phase::Scheduled => {
                self.scheduled
                    .entry(route)
                    .or_default()
                    .insert((order.place(), id));
            }
            Phase::Enqueued => {
                self.ready.entry(route).or_default().insert(order);
            }
            Phase::Waiting(lane) => self.change_lane(lane, |lane| {
                lane.waiters.insert(order);
            }),
            Phase::Processing { worker, .. } => {
                if let Some(worker) = self.workers.get_mut(&worker) {
                    worker.running.insert(id);
                }
            }
            Phase::Ended(_) => {}
        }
    }

    fn unindex_job(&mut self, id: JobId) {
        let Some(row) = self.jobs.get(&id) else {
            return;
        };
        let (order, route) = (row.order(), row.route.clone());
        match row.phase {
            Phase::Scheduled => {
                if let Some(scheduled) = self.scheduled.get_mut(&route) {
                    scheduled.remove(&(order.place(), id));
                }
            }
            Phase::Enqueued => {
                if let Some(ready) = self.ready.get_mut(&route) {
                    ready.remove(&order);
                }
            }
            Phase::Waiting(lane) => self.change_lane(lane, |lane| {
                lane.waiters.remove(&order);
            }),
            Phase::Processing { worker, .. } => {
                if let Some(worker) = self.workers.get_mut(&worker) {
                    worker.running.remove(&id);
                }
            }
            Phase::Ended(_) => {}
        }
    }

    /// Ends a job. Its slots are the caller's business.
    pub(super) fn end_job(
        &mut self,
        id: JobId,
        worker: Option<WorkerId>,
        now: Timestamp,
        state: JobState,
        event: Event,
    ) {
        let counter = match (&event, state) {
            (_, JobState::Succeeded) => Some(Counter::Succeeded),
            (_, JobState::Failed) => Some(Counter::Failed),
            (Event::Skipped(refusal), _) => Some(super::writing::skip_counter(refusal)),
            (Event::Cancelled, _) => Some(Counter::DeletedCancelled),
            _ => None,
        };
        let error = match &event {
            Event::Failed { error } => Some(error.clone()),
            _ => None,
        };
        self.write_job(id, |row| {
            row.phase = Phase::Ended(state);
            row.ended_at = Some(now);
            row.error = error.or_else(|| row.error.take());
            row.log.push(LogEntry {
                at: now,
                worker,
                event,
            });
        });
        if let Some(counter) = counter {
            self.count(counter, worker, now);
        }
    }

    // Lanes.

    pub(super) fn insert_lane(&mut self, lane: LaneRow) -> LaneId {
        let id = LaneId::new(self.next_id());
        self.lane_of
            .insert((lane.route.clone(), lane.keys.clone()), id);
        self.lines.insert(id, &lane);
        self.lanes.insert(id, lane);
        self.operations.lane_writes += 1;
        id
    }

    pub(super) fn delete_lane(&mut self, id: LaneId) {
        if let Some(lane) = self.lanes.remove(&id) {
            self.lines.remove(id, &lane);
            self.lane_of.remove(&(lane.route, lane.keys));
            self.operations.lane_writes += 1;
        }
    }

    /// Changes a lane with its indexes.
    pub(super) fn change_lane(&mut self, id: LaneId, change: impl FnOnce(&mut LaneRow)) {
        if let Some(lane) = self.lanes.get_mut(&id) {
            self.lines.remove(id, lane);
            change(lane);
            self.lines.insert(id, lane);
        }
    }

    // Limiters.

    /// One write of a limiter's row.
    pub(super) fn write_limiter(&mut self, key: &KeyId, change: impl FnOnce(&mut LimiterRow)) {
        let row = self.limiters.entry(key.clone()).or_default();
        let before = row.look_at;
        change(row);
        self.operations.limiter_writes += 1;
        let after = row.look_at;
        if let Some(at) = before {
            self.looks.remove(&(at, key.clone()));
        }
        if let Some(at) = after {
            self.looks.insert((at, key.clone()));
        }
    }

    // Workers.

    /// Who can run what, in the eyes of `me`.
    pub(super) fn fleet(&self, me: WorkerId, now: Timestamp) -> Fleet {
        let live = self
            .workers
            .values()
            .filter(|worker| !worker.draining && worker.is_alive(now));
        Fleet {
            me,
            workers: live.map(|worker| worker.server.clone()).collect(),
        }
    }

    // The clock.

    /// A clock that went back leaves lanes behind that are timed by what it showed before: every line is looked at again, so that
    /// nobody waits for longer than its policy says (R66).
    pub(super) fn notice_clock(&mut self, now: Timestamp) {
        if now.plus_micros(CLOCK_TOLERANCE_MICROS) < self.latest {
            self.latest = now;
            let keys: Vec<KeyId> = self.lines.keys().cloned().collect();
            for key in keys {
                self.write_limiter(&key, |row| row.look_at = Some(now));
            }
        }
        self.latest = self.latest.max(now);
    }

    // Counters: one row for each name, hour and worker, summed when read, so that no row is hot.

    pub(super) fn count(&mut self, counter: Counter, worker: Option<WorkerId>, now: Timestamp) {
        let hour = now.as_micros().div_euclid(MICROS_PER_HOUR);
        *self
            .counts
            .entry((counter, hour, worker.unwrap_or(WorkerId::new(0))))
            .or_default() += 1;
    }

    pub(super) fn counters(&self) -> Counters {
        let mut sums = Counters::default();
        for (&(counter, ..), count) in &self.counts {
            *sums.0.entry(counter).or_default() += count;
        }
        sums
    }

    // Queries.

    pub(super) fn list(&self, filter: &JobFilter, now: Timestamp) -> Vec<Job> {
        let after = filter.after.map_or(i64::MIN, JobId::get);
        let later = self
            .jobs
            .range(JobId::new(after)..)
            .map(|(_, row)| row)
            .filter(|row| row.id.get() > after);
        later
            .filter(|row| filter.state.is_none_or(|state| row.state(now) == state))
            .filter(|row| {
                filter
                    .kind
                    .as_ref()
                    .is_none_or(|kind| row.route.kind == *kind)
            })
            .filter(|row| {
                filter
                    .queue
                    .as_ref()
                    .is_none_or(|queue| row.route.queue == *queue)
            })
            .take(filter.limit)
            .map(|row| self.view(row, now))
            .collect()
    }

    pub(super) fn view(&self, row: &JobRow, now: Timestamp) -> Job {
        let waiting = match row.phase {
            Phase::Waiting(lane) => self.lanes.get(&lane),
            _ => None,
        };
        Job {
            id: row.id,
            kind: row.route.kind.clone(),
            queue: row.route.queue.clone(),
            payload: row.payload.clone(),
            priority: row.priority,
            state: row.state(now),
            place: row.place,
            attempts: row.attempts,
            lost: row.lost,
            explicit: row.explicit.clone(),
            stamp: row.stamp.as_ref().map(|cell| cell.stamp.clone()),
            waiting: waiting.map(|lane| Waiting {
                key: lane.sleeps_on.clone(),
                next_at: lane.next_at,
            }),
            claim: match row.phase {
                Phase::Processing { worker, claim } => Some((worker, claim)),
                _ => None,
            },
            enqueued_at: row.enqueued_at,
            admitted_at: row.admitted_at,
            cancelled_at: row.cancelled_at,
            ended_at: row.ended_at,
            error: row.error.clone(),
        }
    }

    // What a foreign hand can do.

    pub(super) fn overwrite_stamp(&mut self, job: JobId, text: &str) {
        if let Some(row) = self.jobs.get_mut(&job) {
            row.stamp = Some(StampCell::read(text));
        }
    }

    pub(super) fn lose_wake_ups(&mut self) {
        let ids: Vec<LaneId> = self.lanes.keys().copied().collect();
        for id in ids {
            self.change_lane(id, |lane| lane.next_at = None);
        }
    }
}
