//! What a turn writes.

use std::collections::{BTreeMap, BTreeSet};

use warp_policy::Timestamp;
use warp_policy::admission::{
    Family, KeyId, LaneRef, LaneState, NewLane, Plan, Refusal, Start, Want,
};
use warp_policy::ids::{ClaimId, JobId, LaneId, WorkerId};

use super::rows::{JobRow, LaneRow, Phase};
use super::tables::Tables;
use crate::model::{Counter, Event, JobState, LogEntry, Started};

impl Tables {
    /// Writes down a plan for the keys it was made over. Returns the jobs to run.
    pub(super) fn apply(
        &mut self,
        plan: Plan,
        keys: &BTreeSet<KeyId>,
        worker: WorkerId,
        now: Timestamp,
    ) -> Vec<Started> {
        let started = plan
            .starts
            .into_iter()
            .filter_map(|start| self.apply_start(&start, worker, now))
            .collect();
        let new_lanes: Vec<LaneId> = plan
            .new_lanes
            .into_iter()
            .map(|lane| self.insert_lane(new_lane(lane)))
            .collect();
        for wait in plan.waits {
            let lane = match wait.lane {
                LaneRef::Existing(id) => Some(id),
                LaneRef::New(index) => new_lanes.get(index).copied(),
            };
            if let Some(lane) = lane {
                self.apply_wait(wait.job, lane, wait.refusal, worker, now);
            }
        }
        for skip in plan.skips {
            self.end_job(
                skip.job,
                Some(worker),
                now,
                JobState::Deleted,
                Event::Skipped(skip.refusal),
            );
        }
        for update in plan.lanes {
            match update.state {
                Some(state) => self.apply_lane(update.lane, state),
                None => self.delete_lane(update.lane),
            }
        }
        // What the plan does not ask to be looked at again has been looked at.
        let looked_at: Vec<KeyId> = self
            .looks
            .iter()
            .take_while(|(at, _)| *at <= now)
            .filter(|(_, key)| keys.contains(key))
            .map(|(_, key)| key.clone())
            .collect();
        for key in looked_at {
            self.write_limiter(&key, |row| row.look_at = None);
        }
        for (key, update) in plan.keys {
            self.write_limiter(&key, |row| {
                if let Some(rate) = update.rate {
                    row.rate = rate;
                }
                row.elder = update.elder;
                row.look_at = update.look_at;
            });
        }
        started
    }

    fn apply_start(&mut self, start: &Start, worker: WorkerId, now: Timestamp) -> Option<Started> {
        let claim = self.next_claim();
        self.write_job(start.job, |row| {
            row.phase = Phase::Processing { worker, claim };
            row.attempts += 1;
            row.starts += 1;
            row.admitted_at = Some(start.at);
            let event = Event::Started {
                attempt: row.attempts,
                claim,
            };
            row.log.push(LogEntry {
                at: now,
                worker: Some(worker),
                event,
            });
        });
        let started = started(self.jobs.get(&start.job)?)?;
        self.take_slots(start.job, claim);
        Some(started)
    }

    fn apply_wait(
        &mut self,
        job: JobId,
        lane: LaneId,
        refusal: Refusal,
        worker: WorkerId,
        now: Timestamp,
    ) {
        let counter = match refusal.key.family {
            Family::RateLimit => Counter::RequeuedRatelimit,
            _ => Counter::RequeuedConcurrency,
        };
        self.write_job(job, |row| {
            row.phase = Phase::Waiting(lane);
            row.log.push(LogEntry {
                at: now,
                worker: Some(worker),
                event: Event::Waiting(refusal),
            });
        });
        self.count(counter, Some(worker), now);
    }

    fn apply_lane(&mut self, id: LaneId, state: LaneState) {
        self.operations.lane_writes += 1;
        self.change_lane(id, |lane| {
            lane.sleeps_on = state.sleeps_on;
            lane.next_at = state.next_at;
            lane.refusals = state.refusals;
        });
    }

    /// Takes a slot of every concurrency key of a job, to be held while it runs (R52).
    fn take_slots(&mut self, job: JobId, claim: ClaimId) {
        let demands = self.jobs.get(&job).and_then(|row| row.demands());
        let slots = demands.into_iter().flat_map(|demands| demands.iter());
        let keys: Vec<KeyId> = slots
            .filter(|demand| matches!(demand.want, Want::Slot { .. }))
            .map(|demand| demand.key.clone())
            .collect();
        for key in &keys {
            self.write_limiter(key, |limiter| {
                limiter.slots.insert(job, claim);
            });
        }
        if let Some(row) = self.jobs.get_mut(&job) {
            row.holds = keys;
        }
    }

    /// Frees the slots of a job, and adds them up by key.
    pub(super) fn free_slots(&mut self, job: JobId, freed: &mut BTreeMap<KeyId, usize>) {
        let row = self.jobs.get_mut(&job);
        for key in row
            .map(|row| std::mem::take(&mut row.holds))
            .unwrap_or_default()
        {
            self.write_limiter(&key, |limiter| {
                limiter.slots.remove(&job);
            });
            *freed.entry(key).or_default() += 1;
        }
    }
}

/// A job that runs, as its worker has to know it.
pub(super) fn started(row: &JobRow) -> Option<Started> {
    let Phase::Processing { claim, .. } = row.phase else {
        return None;
    };
    Some(Started {
        job: row.id,
        claim,
        kind: row.route.kind.clone(),
        queue: row.route.queue.clone(),
        payload: row.payload.clone(),
        attempt: row.attempts,
        admitted_at: row.admitted_at?,
    })
}

pub(super) fn skip_counter(refusal: &Refusal) -> Counter {
    match refusal.key.family {
        Family::RateLimit => Counter::DeletedRatelimit,
        _ => Counter::DeletedConcurrency,
    }
}

fn new_lane(lane: NewLane) -> LaneRow {
    LaneRow {
        route: lane.route,
        keys: lane.keys,
        sleeps_on: lane.sleeps_on,
        next_at: lane.next_at,
        refusals: lane.refusals,
        waiters: BTreeSet::new(),
    }
}
