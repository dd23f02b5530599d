//! Jobs that are cancelled.

use warp_policy::Timestamp;
use warp_policy::ids::{JobId, LaneId, WorkerId};

use super::rows::Phase;
use super::tables::Tables;
use crate::model::{Cancelled, Event, JobState, LogEntry};

impl Tables {
    pub(super) fn cancel(&mut self, id: JobId, now: Timestamp) -> Cancelled {
        let Some(row) = self.jobs.get_mut(&id) else {
            return Cancelled::Unknown;
        };
        match row.phase {
            Phase::Ended(_) => return Cancelled::Ended,
            Phase::Processing { .. } if row.cancelled_at.is_some() => {}
            Phase::Processing { .. } => self.write_job(id, |row| {
                row.cancelled_at = Some(now);
                row.log.push(LogEntry {
                    at: now,
                    worker: None,
                    event: Event::Stopping,
                });
            }),
            Phase::Scheduled | Phase::Enqueued | Phase::Waiting(_) => {
                let phase = row.phase;
                row.cancelled_at = Some(now);
                self.end_cancelled(id, None, now);
                if let Phase::Waiting(lane) = phase {
                    self.leave(lane, id, now);
                }
                return Cancelled::Deleted;
            }
        }
        Cancelled::Stopping
    }

    /// Ends a cancelled job that does not run, or runs no more.
    pub(super) fn end_cancelled(&mut self, id: JobId, worker: Option<WorkerId>, now: Timestamp) {
        self.end_job(id, worker, now, JobState::Deleted, Event::Cancelled);
    }

    pub(super) fn is_cancelled(&self, id: JobId) -> bool {
        let row = self.jobs.get(&id);
        row.is_some_and(|row| row.cancelled_at.is_some())
    }

    /// The cancelled jobs that a worker still runs.
    pub(super) fn cancelled_of(&self, worker: WorkerId) -> Vec<JobId> {
        let running = self.workers.get(&worker).map(|row| row.running.iter());
        let running = running.into_iter().flatten().copied();
        running.filter(|&job| self.is_cancelled(job)).collect()
    }

    /// Restores the lines of a lane that one of its jobs has left. What an empty lane was kept as an elder is for others.
    fn leave(&mut self, id: LaneId, job: JobId, now: Timestamp) {
        let Some(lane) = self.lanes.get(&id) else {
            return;
        };
        let keys = lane.keys.iter().cloned().collect();
        if lane.waiters.is_empty() {
            self.delete_lane(id);
        } else if self.was_head(id, job) {
            // The next head has not been refused yet.
            self.change_lane(id, |lane| lane.refusals = 0);
        }
        self.restore(&keys, now);
    }

    fn was_head(&self, lane: LaneId, job: JobId) -> bool {
        let order = self.jobs.get(&job).map(super::rows::JobRow::order);
        let head = self.lanes.get(&lane).and_then(|lane| lane.waiters.first());
        order.as_ref() < head
    }
}
