//! What a turn reads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use warp_policy::Timestamp;
use warp_policy::admission::{
    Candidate, Demand, Elder, Fleet, KeyId, KeyState, LINE_READ, Lane, LaneView, Order, Route,
    Waiter, YIELD_MICROS,
};
use warp_policy::ids::{JobId, LaneId, WorkerId};

use super::rows::{JobRow, Phase};
use super::tables::Tables;
use crate::model::{Dispatch, Event, JobState, Unresolved};
use crate::stamp;

/// How many due lanes of a route a turn looks at.
const DUE_READ: usize = 500;

impl Tables {
    /// The routes of which a worker takes jobs: those it serves, or none once it is draining.
    pub(super) fn routes_of(&self, worker: WorkerId) -> Arc<[Route]> {
        let worker = self.workers.get(&worker).filter(|worker| !worker.draining);
        worker
            .map(|worker| Arc::clone(&worker.routes))
            .unwrap_or_default()
    }

    /// The candidates of a turn that have no stamp yet.
    pub(super) fn unresolved_candidates(
        &mut self,
        turn: &Dispatch,
        now: Timestamp,
    ) -> Vec<Unresolved> {
        let ids = self.fetch(turn, now, None);
        let rows = ids
            .iter()
            .filter_map(|id| self.jobs.get(id))
            .filter(|row| row.stamp.is_none());
        rows.map(|row| Unresolved {
            id: row.id,
            kind: row.route.kind.clone(),
            payload: row.payload.clone(),
            explicit: row.explicit.clone(),
        })
        .collect()
    }

    /// The ready jobs of a turn: in one order over all its routes as many as it has room for. What it reads beyond them is there to put
    /// jobs of full keys in line; of that each route has a share, so that none is held up behind another's (R45).
    pub(super) fn fetch(
        &mut self,
        turn: &Dispatch,
        now: Timestamp,
        until: Option<Order>,
    ) -> Vec<JobId> {
        if turn.room == 0 {
            return Vec::new();
        }
        let routes = self.routes_of(turn.worker);
        for route in &*routes {
            self.promote_due(route, now);
        }
        let ready: Vec<_> = routes
            .iter()
            .filter_map(|route| self.ready.get(route))
            .filter(|r| !r.is_empty())
            .collect();
        let share = turn.fetch.saturating_sub(turn.room) / ready.len().max(1);
        let mut read: Vec<(Order, usize)> = ready
            .into_iter()
            .flat_map(|ready| ready.iter().copied().take(turn.fetch).zip(0..))
            .filter(|&(order, _)| until.is_none_or(|until| order < until))
            .collect();
        read.sort_unstable();
        let mut orders: Vec<(bool, Order)> = read
            .into_iter()
            .enumerate()
            .map(|(number, (order, rank))| (number >= turn.room && rank > share, order))
            .collect();
        orders.sort_unstable();
        orders.truncate(turn.fetch);
        orders.into_iter().map(|(_, order)| order.id()).collect()
    }

    /// The lanes to judge: the due ones of the worker's routes, and as many of the lines of freed keys as slots were freed there, and one.
    /// With them the first head that was left out: what comes behind it is for the next turn, or it would overtake (R43).
    pub(super) fn lanes_to_judge(
        &mut self,
        turn: &Dispatch,
        freed: &BTreeMap<KeyId, usize>,
        now: Timestamp,
        keys: &mut BTreeSet<KeyId>,
    ) -> (Vec<Lane>, Option<Order>) {
        if turn.room == 0 {
            return (Vec::new(), None);
        }
        let routes = self.routes_of(turn.worker);
        let mut ids: BTreeSet<LaneId> = BTreeSet::new();
        for route in &*routes {
            ids.extend(
                self.lines
                    .due(route)
                    .take_while(|&(at, _)| at <= now)
                    .take(DUE_READ)
                    .map(|(_, id)| id),
            );
        }
        for (key, count) in freed {
            let mut line: Vec<(Order, LaneId)> = self
                .lines
                .of(key)
                .filter(|(route, _)| routes.contains(route))
                .flat_map(|(_, lanes)| lanes.iter().take(count + 1).copied())
                .collect();
            line.sort_unstable();
            ids.extend(line.into_iter().take(count + 1).map(|(_, id)| id));
        }
        let mut heads: Vec<(Order, LaneId)> = ids
            .into_iter()
            .filter_map(|id| Some((*self.lanes.get(&id)?.waiters.first()?, id)))
            .collect();
        heads.sort_unstable();
        let left_out = heads.get(turn.room).map(|&(head, _)| head);
        heads.truncate(turn.room);
        let lanes = heads
            .into_iter()
            .filter_map(|(_, id)| self.lane_to_judge(id, turn.room, now, keys));
        (lanes.collect(), left_out)
    }

    fn lane_to_judge(
        &mut self,
        id: LaneId,
        room: usize,
        now: Timestamp,
        keys: &mut BTreeSet<KeyId>,
    ) -> Option<Lane> {
        let lane = self.lanes.get(&id)?;
        keys.extend(lane.keys.iter().cloned());
        let read: Vec<JobId> = lane
            .waiters
            .iter()
            .take(room + 1)
            .map(|order| order.id())
            .collect();
        for job in read {
            self.fail_if_unreadable(job, id, now);
        }
        let view = self.lane_view(id, now)?;
        let lane = self.lanes.get(&id)?;
        let waiters: Vec<Waiter> = lane
            .waiters
            .iter()
            .take(room + 1)
            .filter_map(|order| waiter(self.jobs.get(&order.id())?))
            .collect();
        let more = lane.waiters.len() > waiters.len();
        Some(Lane {
            view,
            waiters,
            more,
        })
    }

    /// A ready job with its lane, or why it has to fail.
    pub(super) fn candidate(&mut self, id: JobId, now: Timestamp) -> Option<Candidate> {
        let row = self.jobs.get(&id)?;
        let (waiter, route) = (waiter(row)?, row.route.clone());
        let mut keys: Vec<KeyId> = waiter
            .demands
            .iter()
            .map(|demand| demand.key.clone())
            .collect();
        keys.sort_unstable();
        let lane = self.lane_of.get(&(route.clone(), keys)).copied();
        let lane = lane.and_then(|lane| self.lane_view(lane, now));
        Some(Candidate {
            waiter,
            route,
            lane,
        })
    }

    /// The locked keys of a turn. Lanes whose heads cannot be judged go while a line is read; keys that were read before are then read
    /// again, since such a lane may be their elder.
    pub(super) fn key_states(
        &mut self,
        keys: &BTreeSet<KeyId>,
        fleet: &Fleet,
        now: Timestamp,
    ) -> BTreeMap<KeyId, KeyState> {
        loop {
            let failed = self.unreadable.len();
            let mut states = BTreeMap::new();
            for key in keys {
                states.insert(key.clone(), self.key_state(key, fleet, now));
            }
            if self.unreadable.len() == failed {
                return states;
            }
        }
    }

    /// A locked key with its line.
    fn key_state(&mut self, key: &KeyId, fleet: &Fleet, now: Timestamp) -> KeyState {
        let runnable = || self.lines.of(key).filter(|(route, _)| fleet.can_run(route));
        let is_long = runnable().map(|(_, lanes)| lanes.len()).sum::<usize>() > LINE_READ;
        let mut line: Vec<(Order, LaneId)> = runnable()
            .filter(|(route, lanes)| !is_long || !self.was_left(route, lanes, fleet, now))
            .flat_map(|(_, lanes)| lanes.iter().take(LINE_READ + 1))
            .copied()
            .collect();
        line.sort_unstable();
        let goes_on = line.len() > LINE_READ;
        line.truncate(LINE_READ);
        let line = line
            .into_iter()
            .filter_map(|(_, id)| self.lane_view(id, now))
            .collect();

        let Some(row) = self.limiters.get(key) else {
            return KeyState {
                line,
                line_goes_on: goes_on,
                ..KeyState::default()
            };
        };
        let elder = row
            .elder
            .and_then(|lane| Some((lane, self.lanes.get(&lane)?)));
        KeyState {
            used: u32::try_from(row.slots.len()).unwrap_or(u32::MAX),
            rate: row.rate.clone(),
            control: row.control,
            elder: elder.and_then(|(id, lane)| {
                Some(Elder {
                    lane: id,
                    head: *lane.waiters.first()?,
                    route: lane.route.clone(),
                })
            }),
            line,
            line_goes_on: goes_on,
        }
    }

    /// Whether the lanes of a route were left to other workers for a second. They hold up this one no more, and must not fill what it
    /// reads of a long line. Those who can run them read them, since the first one is due.
    fn was_left(
        &self,
        route: &Route,
        lanes: &BTreeSet<(Order, LaneId)>,
        fleet: &Fleet,
        now: Timestamp,
    ) -> bool {
        let is_worker = fleet.workers.iter().any(|worker| worker.id == fleet.me);
        let first = lanes.first().and_then(|(_, id)| self.lanes.get(id));
        let due = first.and_then(|lane| lane.next_at);
        is_worker
            && !fleet.i_can_run(route)
            && due.is_some_and(|due| due.plus_micros(YIELD_MICROS) <= now)
    }

    /// A lane as its key's line shows it. Heads whose rows cannot be judged fail on the way; a lane that has no others goes.
    fn lane_view(&mut self, id: LaneId, now: Timestamp) -> Option<LaneView> {
        loop {
            let lane = self.lanes.get(&id)?;
            let Some(&head) = lane.waiters.first() else {
                // What its keys kept for it as their elder is for others now.
                let keys = lane.keys.clone();
                self.delete_lane(id);
                for key in keys {
                    self.write_limiter(&key, |row| row.look_at = Some(now));
                    self.kept_by_nobody.insert(key);
                }
                return None;
            };
            if let Some(demand) = self.demand_of(head.id(), id) {
                return Some(LaneView {
                    id,
                    route: lane.route.clone(),
                    head,
                    demand,
                    next_at: lane.next_at,
                    refusals: lane.refusals,
                });
            }
            self.fail_if_unreadable(head.id(), id, now);
            // The next head has not been refused yet.
            self.change_lane(id, |lane| lane.refusals = 0);
        }
    }

    /// What a job of a lane asks of the key that the lane sleeps on; `None` where its row does not fit the lane.
    fn demand_of(&self, job: JobId, lane: LaneId) -> Option<Demand> {
        let (row, lane) = (self.jobs.get(&job)?, self.lanes.get(&lane)?);
        let demands = row.demands()?;
        let fits = demands.len() == lane.keys.len()
            && demands.iter().all(|demand| lane.keys.contains(&demand.key));
        demands
            .iter()
            .find(|demand| fits && demand.key == lane.sleeps_on)
            .cloned()
    }

    fn fail_if_unreadable(&mut self, job: JobId, lane: LaneId, now: Timestamp) {
        if self.demand_of(job, lane).is_some() {
            return;
        }
        let error = match self.jobs.get(&job).and_then(|row| row.stamp.as_ref()) {
            Some(cell) => cell.stamp.as_ref().err().cloned(),
            None => None,
        };
        let error = error.unwrap_or_else(|| stamp::OTHER_KEYS.to_owned());
        self.unreadable.push((job, error.clone()));
        self.end_job(job, None, now, JobState::Failed, Event::Failed { error });
    }
}

fn waiter(row: &JobRow) -> Option<Waiter> {
    debug_assert!(
        matches!(row.phase, Phase::Enqueued | Phase::Waiting(_)),
        "only these can start"
    );
    Some(Waiter {
        order: row.order(),
        demands: row.demands()?.clone(),
        first_start: row.starts == 0,
    })
}
