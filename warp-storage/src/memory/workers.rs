//! Workers come, go, and die.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use warp_policy::Timestamp;
use warp_policy::admission::{Control, KeyId, Server};
use warp_policy::ids::{ClaimId, JobId, WorkerId};

use super::rows::{Phase, WorkerRow};
use super::tables::Tables;
use super::writing::started;
use crate::error::StoreError;
use crate::model::{Event, JobState, LogEntry, Loss, NewWorker, ReadBack, Sweep, Swept};

/// How many lines one sweep looks at, and how many limiters; the next one goes on from there.
const SWEEP_BATCH: usize = 256;

impl Tables {
    pub(super) fn register(&mut self, worker: NewWorker, now: Timestamp) -> WorkerId {
        let id = self.next_worker();
        let row = WorkerRow::new(id, worker, now);
        self.look_at_lines_of(&row.server, now);
        self.workers.insert(id, row);
        id
    }

    /// Notes that a worker is alive. Tells whether its lease had run out before anybody declared it dead: then others have judged
    /// without it.
    pub(super) fn touch(&mut self, worker: WorkerId, now: Timestamp) -> Result<bool, StoreError> {
        let row = self
            .workers
            .get_mut(&worker)
            .ok_or(StoreError::WorkerGone { worker })?;
        let was_alive = row.is_alive(now);
        row.last_seen = now;
        if !was_alive {
            let server = row.server.clone();
            self.look_at_lines_of(&server, now);
        }
        Ok(!was_alive)
    }

    pub(super) fn drain(&mut self, worker: WorkerId, now: Timestamp) -> Result<(), StoreError> {
        self.touch(worker, now)?;
        if let Some(row) = self.workers.get_mut(&worker) {
            row.draining = true;
            let server = row.server.clone();
            self.look_at_lines_of(&server, now);
        }
        Ok(())
    }

    pub(super) fn deregister(
        &mut self,
        worker: WorkerId,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let row = self
            .workers
            .get(&worker)
            .ok_or(StoreError::WorkerGone { worker })?;
        let (server, running) = (row.server.clone(), row.running.clone());
        let mut freed = BTreeMap::new();
        for job in running {
            self.free_slots(job, &mut freed);
            self.give_back(job, Some(worker), now);
        }
        self.workers.remove(&worker);
        self.look_at_lines_of(&server, now);
        self.restore(&freed.into_keys().collect(), now);
        Ok(())
    }

    pub(super) fn read_back(
        &self,
        worker: WorkerId,
        known: &BTreeSet<ClaimId>,
    ) -> Result<ReadBack, StoreError> {
        let row = self.workers.get(&worker);
        let row = row.ok_or(StoreError::WorkerGone { worker })?;
        let mut read = ReadBack::default();
        for job in row.running.iter().filter_map(|id| self.jobs.get(id)) {
            let Some(started) = started(job) else {
                continue;
            };
            if known.contains(&started.claim) {
                read.held.insert(started.claim);
            } else {
                read.started.push(started);
            }
        }
        Ok(read)
    }

    /// Who can run a lane decides who waits behind it: when a worker comes or goes, the lines in which its lanes stand are looked at.
    fn look_at_lines_of(&mut self, server: &Server, now: Timestamp) {
        let lanes = self
            .lanes
            .values()
            .filter(|lane| server.serves(&lane.route));
        // A lane that stands for the elder of other keys frees them when nobody can run it.
        let keys: BTreeSet<KeyId> = lanes.flat_map(|lane| lane.keys.iter().cloned()).collect();
        for key in keys {
            self.write_limiter(&key, |row| row.look_at = Some(now));
        }
    }

    pub(super) fn sweep(&mut self, sweep: Sweep, now: Timestamp) -> Swept {
        self.notice_clock(now);
        let mut swept = Swept::default();
        for worker in self.silent_workers(now) {
            swept.dead.push((worker, self.bury(worker, sweep, now)));
        }
        swept.repaired = self.repair(now);
        swept.forgotten = self.forget_idle_limiters(now);
        swept
    }

    /// The workers whose lease has run out. One that was seen in the future saw a clock that has gone back since: its lease begins
    /// anew, so that it is waited for no longer than one lease (R66).
    fn silent_workers(&mut self, now: Timestamp) -> Vec<WorkerId> {
        for worker in self.workers.values_mut() {
            worker.last_seen = worker.last_seen.min(now);
        }
        self.workers
            .iter()
            .filter(|(_, row)| !row.is_alive(now))
            .map(|(&id, _)| id)
            .collect()
    }

    /// Removes a dead worker. Its jobs become ready with a new place, or fail where that has happened too often (R80, R84).
    fn bury(&mut self, worker: WorkerId, sweep: Sweep, now: Timestamp) -> usize {
        let Some(row) = self.workers.get(&worker) else {
            return 0;
        };
        let (server, running) = (row.server.clone(), row.running.clone());
        let mut freed = BTreeMap::new();
        let loss = Loss::WithWorker {
            worker,
            together: running.len(),
        };
        for &job in &running {
            self.free_slots(job, &mut freed);
            self.lose(job, loss, sweep, now);
        }
        self.workers.remove(&worker);
        self.look_at_lines_of(&server, now);
        self.restore(&freed.into_keys().collect(), now);
        running.len()
    }

    /// Gives up an attempt whose end cannot be written. Tells whether it was still held.
    pub(super) fn disown(
        &mut self,
        worker: WorkerId,
        claim: ClaimId,
        error: &str,
        sweep: Sweep,
        now: Timestamp,
    ) -> bool {
        let held = Phase::Processing { worker, claim };
        let running = self.workers.get(&worker).map(|row| row.running.iter());
        let mut running = running.into_iter().flatten().copied();
        let is_meant = |job: &JobId| self.jobs.get(job).is_some_and(|row| row.phase == held);
        let Some(job) = running.find(is_meant) else {
            return false;
        };
        let mut freed = BTreeMap::new();
        self.free_slots(job, &mut freed);
        self.lose(job, Loss::Disowned { worker, error }, sweep, now);
        self.restore(&freed.into_keys().collect(), now);
        true
    }

    fn lose(&mut self, job: JobId, how: Loss<'_>, sweep: Sweep, now: Timestamp) {
        let by = how.told_by();
        let lost = self.jobs.get(&job).map_or(0, |row| row.lost + 1);
        self.write_job(job, |row| {
            row.lost = lost;
            // Lost attempts are counted apart from failed ones.
            row.attempts = row.attempts.saturating_sub(1);
            row.phase = Phase::Enqueued;
            row.place = now;
            row.log.push(LogEntry {
                at: now,
                worker: by,
                event: how.event(),
            });
        });
        if self.is_cancelled(job) {
            self.end_cancelled(job, by, now);
        } else if lost >= sweep.max_lost {
            let error = how.error(lost, sweep);
            self.end_job(job, by, now, JobState::Failed, Event::Failed { error });
        }
    }

    /// Restores the lines of the next keys, and counts the lanes that slept although they could go.
    fn repair(&mut self, now: Timestamp) -> usize {
        let keys: BTreeSet<KeyId> = self
            .lines
            .keys_after(self.repaired_to.as_ref())
            .take(SWEEP_BATCH)
            .cloned()
            .collect();
        self.repaired_to = keys.last().filter(|_| keys.len() == SWEEP_BATCH).cloned();
        self.restore(&keys, now)
    }

    /// Forgets, among the next limiters, those that a fresh one would answer the same as (R68).
    fn forget_idle_limiters(&mut self, now: Timestamp) -> usize {
        let from = self
            .forgotten_to
            .as_ref()
            .map_or(Bound::Unbounded, Bound::Excluded);
        let rows = self
            .limiters
            .range_mut((from, Bound::Unbounded))
            .take(SWEEP_BATCH);
        let mut looked_at = Vec::new();
        for (key, row) in rows {
            row.rate.prune(now);
            let is_idle = row.slots.is_empty()
                && row.rate.is_fresh()
                && row.elder.is_none_or(|lane| !self.lanes.contains_key(&lane))
                && row.look_at.is_none()
                && row.control == Control::default();
            looked_at.push((key.clone(), is_idle && !self.lines.has(key)));
        }
        self.forgotten_to = looked_at
            .last()
            .filter(|_| looked_at.len() == SWEEP_BATCH)
            .map(|(key, _)| key.clone());
        let idle = looked_at
            .into_iter()
            .filter(|(_, is_idle)| *is_idle)
            .map(|(key, _)| key);
        idle.filter_map(|key| self.limiters.remove(&key)).count()
    }
}
