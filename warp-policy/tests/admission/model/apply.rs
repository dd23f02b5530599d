//! Writes down a plan, and holds it to R45: each job is written once, each lane row fits its jobs.

use std::collections::BTreeSet;

use warp_policy::admission::{LaneRef, Plan, Turn};
use warp_policy::ids::{JobId, LaneId};

use super::store::{LaneRow, Phase, Store};

impl Store {
    /// Returns the lanes that are new.
    pub(super) fn apply(&mut self, turn: &Turn, plan: &Plan) -> Vec<LaneId> {
        let starts = plan.starts.iter().map(|start| start.job);
        let waits = plan.waits.iter().map(|wait| wait.job);
        let skips = plan.skips.iter().map(|skip| skip.job);
        let written: Vec<_> = starts.chain(waits).chain(skips).collect();
        let distinct: BTreeSet<_> = written.iter().collect();
        assert_eq!(distinct.len(), written.len(), "R45: one write per job");
        assert!(plan.starts.len() <= turn.room, "no more than there is room");

        let starts = plan.starts.iter().map(|start| (start.job, start.lane));
        let skips = plan.skips.iter().map(|skip| (skip.job, skip.lane));
        let mut leaving: Vec<_> = starts.chain(skips).collect();
        leaving.sort_by_key(|(job, _)| self.jobs[job].order());
        for (job, lane) in leaving {
            assert_eq!(self.leave_lane(job), lane);
        }
        for start in &plan.starts {
            let job = self.jobs.get_mut(&start.job).expect("a job to start");
            job.phase = Phase::Running(turn.fleet.me);
            job.starts += 1;
        }
        for skip in &plan.skips {
            self.jobs.remove(&skip.job);
        }
        let new_lanes = self.insert_lanes(plan);
        for wait in &plan.waits {
            let id = match wait.lane {
                LaneRef::Existing(id) => id,
                LaneRef::New(index) => new_lanes[index],
            };
            let job = self.jobs.get_mut(&wait.job).expect("a job to wait");
            assert_eq!(job.phase, Phase::Ready, "R45: a waiter never moves");
            job.phase = Phase::Waiting(id);
            let lane = self.lanes.get_mut(&id).expect("a lane to wait in");
            assert_eq!((&lane.route, &lane.keys), (&job.route, &job.key_set()));
            lane.jobs.insert(job.order());
        }
        self.write_lanes(plan);
        self.write_keys(turn, plan);
        new_lanes
    }

    fn leave_lane(&mut self, job: JobId) -> Option<LaneId> {
        let job = &self.jobs[&job];
        let Phase::Waiting(id) = job.phase else {
            assert_eq!(job.phase, Phase::Ready);
            return None;
        };
        let lane = self.lanes.get_mut(&id).expect("a lane that was waited in");
        assert_eq!(
            lane.jobs.first(),
            Some(&job.order()),
            "R43: a lane is left in its order"
        );
        lane.jobs.pop_first();
        Some(id)
    }

    fn insert_lanes(&mut self, plan: &Plan) -> Vec<LaneId> {
        let mut ids = Vec::new();
        for lane in &plan.new_lanes {
            assert!(lane.keys.is_sorted(), "a key set is sorted");
            assert!(
                !self
                    .lanes
                    .values()
                    .any(|row| (&row.route, &row.keys) == (&lane.route, &lane.keys)),
                "one lane per route and key set"
            );
            let id = LaneId::new(self.next_id());
            let row = LaneRow {
                route: lane.route.clone(),
                keys: lane.keys.clone(),
                sleeps_on: lane.sleeps_on.clone(),
                next_at: lane.next_at,
                refusals: lane.refusals,
                jobs: BTreeSet::new(),
            };
            self.lanes.insert(id, row);
            ids.push(id);
        }
        ids
    }

    fn write_lanes(&mut self, plan: &Plan) {
        for update in &plan.lanes {
            if let Some(state) = &update.state {
                let lane = self.lanes.get_mut(&update.lane);
                let lane = lane.expect("a lane to change");
                lane.sleeps_on = state.sleeps_on.clone();
                lane.next_at = state.next_at;
                lane.refusals = state.refusals;
            } else {
                let lane = self.lanes.remove(&update.lane);
                let lane = lane.expect("a lane to delete");
                assert!(lane.jobs.is_empty(), "only an empty lane goes");
            }
        }
        for (id, lane) in &self.lanes {
            assert!(!lane.jobs.is_empty(), "lane {id} is empty and stays");
            assert!(
                lane.keys.contains(&lane.sleeps_on),
                "lane {id} sleeps on one of its keys"
            );
        }
    }

    fn write_keys(&mut self, turn: &Turn, plan: &Plan) {
        for key in plan.keys.keys() {
            assert!(turn.keys.contains_key(key), "only locked keys are written");
        }
        for key in turn.keys.keys() {
            let row = self.keys.entry(key.clone()).or_default();
            if row.look_at.is_some_and(|at| at <= turn.now) {
                row.look_at = None;
            }
            if let Some(update) = plan.keys.get(key) {
                row.elder = update.elder;
                row.look_at = update.look_at;
                if let Some(rate) = &update.rate {
                    row.rate = rate.clone();
                }
            }
        }
        for (key, row) in &self.keys {
            let lane = row.elder.map(|id| self.lanes.get(&id));
            assert!(
                lane.is_none_or(|lane| lane.is_some_and(|lane| lane.keys.contains(key))),
                "R46: an elder of {key} that is gone or never wanted it"
            );
        }
    }
}
