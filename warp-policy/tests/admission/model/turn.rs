//! One dispatch turn: what ended, what is read, and what is decided.

use std::collections::{BTreeMap, BTreeSet};

use warp_policy::admission::{
    Candidate, Elder, Fleet, KeyId, KeyState, LINE_READ, Lane, LaneView, Order, Plan, Route, Turn,
    Waiter, YIELD_MICROS, plan,
};
use warp_policy::ids::{JobId, LaneId, WorkerId};

use super::store::{Job, Phase, Store};
use super::{invariant, reference};

/// What a worker asks for in one turn.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    /// How many ready jobs are fetched at most.
    pub(crate) fetch: usize,
    /// How many jobs are started at most; the worker's free room, if that is less.
    pub(crate) room: usize,
    pub(crate) finished: Vec<(JobId, Outcome)>,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    Done,
    /// Ready again after so many milliseconds, with a new place.
    Retry(u64),
    /// Ready again with its place.
    Returned,
}

impl Default for Ask {
    fn default() -> Self {
        Self {
            fetch: 500,
            room: usize::MAX,
            finished: Vec::new(),
        }
    }
}

impl Store {
    /// A turn with all that is ready. Returns what started.
    pub(crate) fn turn(&mut self, worker: WorkerId) -> Vec<JobId> {
        started(&self.turn_with(worker, Ask::default()))
    }

    /// A job of the worker ends well, in a turn that goes on with what is ready.
    pub(crate) fn finish(&mut self, worker: WorkerId, job: JobId) -> Vec<JobId> {
        let ask = Ask {
            finished: vec![(job, Outcome::Done)],
            ..Ask::default()
        };
        started(&self.turn_with(worker, ask))
    }

    pub(crate) fn turn_with(&mut self, me: WorkerId, ask: Ask) -> Plan {
        let mut freed = BTreeMap::new();
        for (job, outcome) in ask.finished {
            self.end_attempt(job, outcome, &mut freed);
        }
        let fleet = self.fleet(me);
        let room = self.room(me).min(ask.room);
        let lanes = self.lanes_to_judge(&fleet, room, &freed);
        let candidates: Vec<Candidate> = self
            .ready(&fleet)
            .into_iter()
            .take(ask.fetch)
            .map(|order| self.candidate(&self.jobs[&order.id()]))
            .collect();
        let mut keys: BTreeSet<KeyId> = freed.into_keys().collect();
        let is_due = |at: Option<_>| at.is_some_and(|at| at <= self.now);
        let looks = self.keys.iter().filter(|(_, row)| is_due(row.look_at));
        keys.extend(looks.map(|(key, _)| key.clone()));
        let waiters = lanes.iter().flat_map(|lane| &lane.waiters);
        let waiters = waiters.chain(candidates.iter().map(|candidate| &candidate.waiter));
        keys.extend(waiters.flat_map(|waiter| waiter.demands.iter().map(|d| d.key.clone())));
        let keys = keys
            .into_iter()
            .map(|key| (key.clone(), self.key_state(&key, &fleet)))
            .collect();
        self.decide(&Turn {
            now: self.now,
            fleet,
            room,
            candidates,
            lanes,
            keys,
        })
    }

    /// Plans, checks and writes.
    pub(super) fn decide(&mut self, turn: &Turn) -> Plan {
        let expected = reference::judge(turn);
        let lanes_before = self.lanes.clone();
        let plan = plan(turn.clone());
        expected.compare(turn, &plan);
        self.check_history(turn, &plan);
        let new_lanes = self.apply(turn, &plan);
        invariant::check(self, turn, &lanes_before, &new_lanes);
        plan
    }

    fn end_attempt(&mut self, id: JobId, outcome: Outcome, freed: &mut BTreeMap<KeyId, usize>) {
        let now = self.now;
        let job = self.jobs.get_mut(&id).expect("a running job");
        assert!(matches!(job.phase, Phase::Running(_)), "{id} runs");
        for key in job.slot_keys() {
            *freed.entry(key).or_default() += 1;
        }
        job.phase = Phase::Ready;
        match outcome {
            Outcome::Done => {
                self.jobs.remove(&id);
            }
            Outcome::Retry(millis) => job.place = now.plus_micros(millis * 1_000),
            Outcome::Returned => {}
        }
    }

    /// The ready jobs that the worker serves, in order.
    pub(crate) fn ready(&self, fleet: &Fleet) -> Vec<Order> {
        let is_ready = |job: &&Job| {
            job.phase == Phase::Ready && job.place <= self.now && fleet.i_can_run(&job.route)
        };
        let mut orders: Vec<Order> = self
            .jobs
            .values()
            .filter(is_ready)
            .map(Job::order)
            .collect();
        orders.sort_unstable();
        orders
    }

    /// The due lanes that the worker serves, by their heads.
    pub(crate) fn due(&self, fleet: &Fleet) -> Vec<(Order, LaneId)> {
        let due = self.lanes.iter().filter(|(_, lane)| {
            lane.next_at.is_some_and(|at| at <= self.now) && fleet.i_can_run(&lane.route)
        });
        let mut due: Vec<_> = due.map(|(&id, lane)| (head(&lane.jobs), id)).collect();
        due.sort_unstable();
        due
    }

    fn lanes_to_judge(
        &self,
        fleet: &Fleet,
        room: usize,
        freed: &BTreeMap<KeyId, usize>,
    ) -> Vec<Lane> {
        let mut heads: BTreeSet<(Order, LaneId)> = self.due(fleet).into_iter().collect();
        for (key, count) in freed {
            let line = self.line(key, &|route| fleet.i_can_run(route));
            heads.extend(line.into_iter().take(count + 1));
        }
        let lanes = heads.into_iter().take(room).map(|(_, id)| {
            let jobs = &self.lanes[&id].jobs;
            let waiters = jobs.iter().take(room + 1);
            Lane {
                view: self.view(id),
                waiters: waiters
                    .map(|order| waiter(&self.jobs[&order.id()]))
                    .collect(),
                more: jobs.len() > room + 1,
            }
        });
        lanes.collect()
    }

    fn candidate(&self, job: &Job) -> Candidate {
        let keys = job.key_set();
        let mut lanes = self.lanes.iter();
        let lane = lanes.find(|(_, lane)| lane.route == job.route && lane.keys == keys);
        Candidate {
            waiter: waiter(job),
            route: job.route.clone(),
            lane: lane.map(|(&id, _)| self.view(id)),
        }
    }

    /// The lanes of some routes that sleep on a key, by their heads.
    pub(crate) fn line(
        &self,
        key: &KeyId,
        is_meant: &dyn Fn(&Route) -> bool,
    ) -> Vec<(Order, LaneId)> {
        let lanes = self.lanes.iter();
        let lanes = lanes.filter(|(_, lane)| lane.sleeps_on == *key && is_meant(&lane.route));
        let mut line: Vec<_> = lanes.map(|(&id, lane)| (head(&lane.jobs), id)).collect();
        line.sort_unstable();
        line
    }

    pub(super) fn key_state(&self, key: &KeyId, fleet: &Fleet) -> KeyState {
        let mut line = self.line(key, &|route| fleet.can_run(route));
        if self.leaves_out && fleet.workers.iter().any(|worker| worker.id == fleet.me) {
            self.leave_out(&mut line, fleet);
        }
        let row = self.keys.get(key).cloned().unwrap_or_default();
        let elder = row.elder.map(|id| Elder {
            lane: id,
            head: head(&self.lanes[&id].jobs),
            route: self.lanes[&id].route.clone(),
        });
        KeyState {
            used: self.running(key),
            rate: row.rate,
            control: row.control,
            elder,
            line_goes_on: line.len() > LINE_READ,
            line: line
                .into_iter()
                .take(LINE_READ)
                .map(|(_, id)| self.view(id))
                .collect(),
        }
    }

    /// Leaves out the routes whose first lane has been left to others for a second.
    fn leave_out(&self, line: &mut Vec<(Order, LaneId)>, fleet: &Fleet) {
        let mut seen = BTreeMap::new();
        line.retain(|(_, id)| {
            let row = &self.lanes[id];
            let was_left = row
                .next_at
                .is_some_and(|due| due.plus_micros(YIELD_MICROS) <= self.now);
            let first_was_left = *seen.entry(row.route.clone()).or_insert(was_left);
            fleet.i_can_run(&row.route) || !first_was_left
        });
    }

    fn view(&self, id: LaneId) -> LaneView {
        let lane = &self.lanes[&id];
        let first = head(&lane.jobs);
        let demands = &self.jobs[&first.id()].demands;
        let demand = demands.iter().find(|demand| demand.key == lane.sleeps_on);
        LaneView {
            id,
            route: lane.route.clone(),
            head: first,
            demand: demand.expect("a lane sleeps on one of its keys").clone(),
            next_at: lane.next_at,
            refusals: lane.refusals,
        }
    }
}

pub(crate) fn started(plan: &Plan) -> Vec<JobId> {
    plan.starts.iter().map(|start| start.job).collect()
}

fn head(jobs: &BTreeSet<Order>) -> Order {
    *jobs.first().expect("a lane is never empty")
}

fn waiter(job: &Job) -> Waiter {
    Waiter {
        order: job.order(),
        demands: job.demands.clone(),
        first_start: job.starts == 0,
    }
}
