//! One dispatch turn.

use std::collections::{BTreeMap, BTreeSet};

use warp_policy::Timestamp;
use warp_policy::admission::{Fleet, KeyId, LaneUpdate, Plan, Route, Turn, plan};
use warp_policy::ids::{JobId, WorkerId};

use super::rows::{Phase, StampCell};
use super::tables::Tables;
use crate::error::StoreError;
use crate::model::{
    Counter, Dispatch, Dispatched, End, Event, Finished, JobState, LogEntry, Resolution,
};

/// How many keys that ask to be looked at a turn takes on.
const LOOKS_READ: usize = 64;

impl Tables {
    /// Finishes what ended, judges what may start and writes down what was decided. Tells also whether another worker has something to
    /// do because of it.
    pub(super) fn dispatch(
        &mut self,
        turn: &Dispatch,
        mut resolved: BTreeMap<JobId, Resolution>,
        now: Timestamp,
    ) -> Result<(Dispatched, bool), StoreError> {
        self.touch(turn.worker, now)?;
        self.notice_clock(now);
        self.operations.turns += 1;
        let cancelled = turn.still_running(self.cancelled_of(turn.worker));
        let mut freed = BTreeMap::new();
        let mut stale = Vec::new();
        let mut comes_back = false;
        for finished in &turn.finished {
            if !self.finish(finished, turn.worker, now, &mut freed) {
                stale.push(finished.job);
            }
            comes_back |= matches!(finished.end, End::Retry { .. } | End::Returned)
                && !self.is_cancelled(finished.job);
        }

        let fleet = self.fleet(turn.worker, now);
        let mut keys: BTreeSet<KeyId> = freed.keys().cloned().collect();
        keys.extend(
            self.looks
                .iter()
                .take_while(|(at, _)| *at <= now)
                .take(LOOKS_READ)
                .map(|(_, key)| key.clone()),
        );
        let (lanes, left_out) = self.lanes_to_judge(turn, &freed, now, &mut keys);

        let mut candidates = Vec::new();
        let mut failed = std::mem::take(&mut self.unreadable);
        let mut newly_stamped = Vec::new();
        for id in self.fetch(turn, now, left_out) {
            match self.stamp_candidate(id, resolved.remove(&id)) {
                Stamped::Not => continue,
                Stamped::Unreadable(error) => {
                    let event = Event::Failed {
                        error: error.clone(),
                    };
                    self.end_job(id, Some(turn.worker), now, JobState::Failed, event);
                    failed.push((id, error));
                    continue;
                }
                Stamped::Now => newly_stamped.push(id),
                Stamped::Before => {}
            }
            if let Some(candidate) = self.candidate(id, now) {
                keys.extend(
                    candidate
                        .waiter
                        .demands
                        .iter()
                        .map(|demand| demand.key.clone()),
                );
                candidates.push(candidate);
            }
        }
        self.operations.candidates += candidates.len() as u64;
        self.operations.lanes += lanes.len() as u64;

        let states = loop {
            let states = self.key_states(&keys, &fleet, now);
            // What lanes that are gone were keeping as elders is given to others by this turn.
            let freed = std::mem::take(&mut self.kept_by_nobody);
            if freed.is_subset(&keys) {
                break states;
            }
            keys.extend(freed);
        };
        let decided = plan(Turn {
            now,
            fleet: fleet.clone(),
            room: turn.room,
            candidates,
            lanes,
            keys: states,
        });
        self.unstamp_the_untouched(newly_stamped, &decided);
        let refused = decided.waits.len() + decided.skips.len();
        let room_left = turn.room.saturating_sub(decided.starts.len());
        let wakes_others = self.wakes_others(&decided, &fleet);
        let started = self.apply(decided, &keys, turn.worker, now);
        let others_care =
            comes_back || wakes_others || (room_left == 0 && self.leaves_lanes(&fleet));
        failed.append(&mut self.unreadable);
        let next_at = self.next_at(turn.worker, now);
        Ok((
            Dispatched {
                now,
                started,
                refused,
                failed,
                stale,
                left: Vec::new(),
                cancelled,
                next_at,
            },
            others_care,
        ))
    }

    /// Ends an attempt and frees its slots. A result under a claim that is no longer held changes nothing (R81).
    fn finish(
        &mut self,
        finished: &Finished,
        worker: WorkerId,
        now: Timestamp,
        freed: &mut BTreeMap<KeyId, usize>,
    ) -> bool {
        let held = Phase::Processing {
            worker,
            claim: finished.claim,
        };
        if self
            .jobs
            .get(&finished.job)
            .is_none_or(|row| row.phase != held)
        {
            return false;
        }
        self.free_slots(finished.job, freed);
        let log = |event| LogEntry {
            at: now,
            worker: Some(worker),
            event,
        };
        match finished.end.clone() {
            End::Succeeded => self.end_job(
                finished.job,
                Some(worker),
                now,
                JobState::Succeeded,
                Event::Succeeded,
            ),
            End::Failed { error } => {
                self.end_job(
                    finished.job,
                    Some(worker),
                    now,
                    JobState::Failed,
                    Event::Failed { error },
                );
            }
            End::Retry { error, .. } if self.is_cancelled(finished.job) => {
                self.write_job(finished.job, |row| row.error = Some(error));
                self.end_cancelled(finished.job, Some(worker), now);
            }
            End::Retry { error, after } => {
                let place = now.plus(after);
                self.write_job(finished.job, |row| {
                    row.phase = if place > now {
                        Phase::Scheduled
                    } else {
                        Phase::Enqueued
                    };
                    row.place = place;
                    row.error = Some(error.clone());
                    row.log.push(log(Event::Retried { error, place }));
                });
                self.count(Counter::Retried, Some(worker), now);
            }
            End::Returned => self.give_back(finished.job, Some(worker), now),
        }
        true
    }

    /// Puts a job back with its place, as if it had not started (R83); a cancelled one ends.
    pub(super) fn give_back(&mut self, job: JobId, worker: Option<WorkerId>, now: Timestamp) {
        if self.is_cancelled(job) {
            return self.end_cancelled(job, worker, now);
        }
        self.write_job(job, |row| {
            row.phase = Phase::Enqueued;
            row.attempts = row.attempts.saturating_sub(1);
            row.log.push(LogEntry {
                at: now,
                worker,
                event: Event::Returned,
            });
        });
    }

    /// Gives a ready job the stamp that was resolved for it.
    fn stamp_candidate(&mut self, id: JobId, resolution: Option<Resolution>) -> Stamped {
        let Some(row) = self.jobs.get_mut(&id) else {
            return Stamped::Not;
        };
        match (&row.stamp, resolution) {
            (Some(cell), _) => match &cell.stamp {
                Ok(_) => Stamped::Before,
                Err(error) => Stamped::Unreadable(error.clone()),
            },
            // It became ready after the resolver was asked; the next turn has it.
            (None, None) => Stamped::Not,
            (None, Some(Resolution::Fail(error))) => Stamped::Unreadable(error),
            (None, Some(Resolution::Stamp(stamp))) => {
                row.stamp = Some(StampCell::new(stamp));
                Stamped::Now
            }
        }
    }

    /// The stamp is written by the transaction that judges the job (R21). One that found no room was not judged.
    fn unstamp_the_untouched(&mut self, stamped: Vec<JobId>, plan: &Plan) {
        let starts = plan.starts.iter().map(|start| start.job);
        let waits = plan.waits.iter().map(|wait| wait.job);
        let judged: BTreeSet<JobId> = starts
            .chain(waits)
            .chain(plan.skips.iter().map(|skip| skip.job))
            .collect();
        for id in stamped.into_iter().filter(|id| !judged.contains(id)) {
            if let Some(row) = self.jobs.get_mut(&id) {
                row.stamp = None;
            }
        }
    }

    /// Whether the plan lets a lane wake that this worker cannot take itself.
    fn wakes_others(&self, plan: &Plan, fleet: &Fleet) -> bool {
        let new = plan
            .new_lanes
            .iter()
            .map(|lane| (&lane.route, lane.next_at));
        let changed = plan.lanes.iter().filter_map(|update| {
            Some((
                &self.lanes.get(&update.lane)?.route,
                update.state.as_ref()?.next_at,
            ))
        });
        let mut waking = new.chain(changed).filter(|(_, next_at)| next_at.is_some());
        waking.any(|(route, _)| !fleet.i_can_run(route))
    }

    /// Whether lanes of this worker's routes are, or will be, due that another worker can take. One without room must tell: the others
    /// may not have looked since the lanes were timed, and it will not be there at that time.
    fn leaves_lanes(&self, fleet: &Fleet) -> bool {
        let others = || fleet.workers.iter().filter(|worker| worker.id != fleet.me);
        let routes = self.routes_of(fleet.me);
        let mut timed = routes
            .iter()
            .filter(|route| self.lines.due(route).next().is_some());
        timed.any(|route| others().any(|other| other.serves(route)))
    }

    /// When a turn of this worker can find something without anything else happening.
    fn next_at(&self, worker: WorkerId, now: Timestamp) -> Option<Timestamp> {
        let routes = self.routes_of(worker);
        let of_route = |route| {
            let ready = self
                .ready
                .get(route)
                .filter(|ready| !ready.is_empty())
                .map(|_| now);
            let scheduled = self
                .scheduled
                .get(route)
                .and_then(BTreeSet::first)
                .map(|&(place, _)| place);
            let lane = self.lines.due(route).next().map(|(at, _)| at);
            [ready, scheduled, lane].into_iter().flatten().min()
        };
        let looks = self.looks.first().map(|&(at, _)| at);
        routes.iter().filter_map(of_route).chain(looks).min()
    }

    /// Restores the lines of keys that changed outside a worker's turn. Returns how many lanes slept on although they could go, and
    /// nobody was told to look at them.
    pub(super) fn restore(&mut self, keys: &BTreeSet<KeyId>, now: Timestamp) -> usize {
        let nobody = WorkerId::new(0);
        let fleet = self.fleet(nobody, now);
        let turn = Turn {
            now,
            keys: self.key_states(keys, &fleet, now),
            fleet,
            room: 0,
            candidates: Vec::new(),
            lanes: Vec::new(),
        };
        let decided = plan(turn);
        let wakes = |update: &&LaneUpdate| {
            let (Some(lane), Some(state)) = (self.lanes.get(&update.lane), &update.state) else {
                return false;
            };
            let at = state
                .next_at
                .filter(|&at| lane.next_at.is_none_or(|before| at < before));
            at.is_some_and(|at| !self.will_be_seen(&lane.route, &state.sleeps_on, at))
        };
        let woken = decided.lanes.iter().filter(wakes).count();
        self.apply(decided, keys, nobody, now);
        woken
    }

    /// Whether some turn will restore the line of a key for the lanes of a route by then: the key is to be looked at, or another of
    /// these lanes is due. A turn that reads a long line with gaps leaves those behind them to it.
    fn will_be_seen(&self, route: &Route, key: &KeyId, by: Timestamp) -> bool {
        let in_time = |at: Option<Timestamp>| at.is_some_and(|at| at <= by);
        let of_route = self.lines.of(key).filter(|&(other, _)| other == route);
        let mut lanes = of_route.flat_map(|(_, lanes)| lanes);
        in_time(self.limiters.get(key).and_then(|row| row.look_at))
            || lanes.any(|(_, id)| in_time(self.lanes.get(id).and_then(|lane| lane.next_at)))
    }
}

/// What a ready job has of a stamp.
enum Stamped {
    /// None, and nobody resolved one.
    Not,
    /// One that was resolved in this turn.
    Now,
    /// One from an earlier judgement.
    Before,
    /// One that cannot be read, or none that can be made.
    Unreadable(String),
}
