//! The end: nothing new comes, nobody stands in the way, and time goes from event to event.

use std::collections::BTreeSet;

use warp_policy::Timestamp;
use warp_policy::admission::{Control, KeyId};
use warp_policy::ids::WorkerId;

use super::super::jobs::{KINDS, QUEUES};
use super::{Driver, Step};
use crate::model::{Ask, Phase};

impl Driver {
    pub(in super::super) fn come_to_an_end(&mut self) {
        self.steps.push(Step::End);
        let keys: Vec<KeyId> = self.store.keys.keys().cloned().collect();
        for key in keys {
            self.store.control(&key, Control::default());
        }
        let id = self.store.worker_of(&QUEUES, &KINDS, 4);
        self.steps.push(Step::Come(id));
        let bound = 200 + 20 * self.store.jobs.len();
        for _ in 0..bound {
            let workers: Vec<WorkerId> = self.store.workers.keys().copied().collect();
            for worker in workers {
                self.turns_until_idle(worker);
            }
            if self.store.jobs.is_empty() {
                assert!(self.store.lanes.is_empty(), "a lane without a job");
                return;
            }
            let next = self.until_next_event();
            let Some(micros) = next else {
                panic!("R44: nobody will ever look at {:#?}", self.store.lanes);
            };
            self.steps.push(Step::Pass(micros));
            self.pass_by(micros);
        }
        panic!("R44: {} jobs did not end", self.store.jobs.len());
    }

    /// A worker takes turns at one instant until it has nothing to do. A turn that changes nothing is the last one.
    pub(super) fn turns_until_idle(&mut self, worker: WorkerId) {
        let bound = 20 + 4 * (self.store.jobs.len() + self.store.lanes.len());
        for _ in 0..bound {
            let Some(row) = self.store.workers.get(&worker) else {
                return;
            };
            let (capacity, finished) = (row.capacity, self.finished(worker));
            if finished.is_empty() && !self.has_work(worker) {
                return;
            }
            let is_end = !finished.is_empty();
            let ask = Ask {
                fetch: self.rng.pick(&[1, 5, 500]),
                room: capacity,
                finished,
            };
            let changed = self.turn_with(worker, ask);
            if !changed && !is_end && self.store.workers.contains_key(&worker) {
                assert!(!self.has_work(worker), "{worker} spins");
            }
        }
        panic!("{worker} does not come to rest");
    }

    fn has_work(&self, worker: WorkerId) -> bool {
        let (store, fleet) = (&self.store, self.store.fleet(worker));
        let can_take = !store.ready(&fleet).is_empty() || !store.due(&fleet).is_empty();
        let mut looks = store.keys.values().filter_map(|row| row.look_at);
        store.room(worker) > 0 && can_take || looks.any(|at| at <= store.now)
    }

    /// How long until something happens by itself.
    pub(super) fn until_next_event(&self) -> Option<u64> {
        let store = &self.store;
        let fleet = store.fleet(WorkerId::new(0));
        let lanes = store.lanes.values();
        let lanes = lanes.filter(|lane| fleet.can_run(&lane.route));
        let looks = store.keys.values().filter_map(|row| row.look_at);
        let ready = store.jobs.values().filter(|job| job.phase == Phase::Ready);
        let clocked: BTreeSet<Timestamp> = lanes
            .filter_map(|lane| lane.next_at)
            .chain(looks)
            .chain(ready.map(|job| job.place))
            .filter(|&at| at > store.now)
            .collect();
        let clocked = clocked.first().map(|at| at.micros_since(store.now));
        let ends = self.ends.values().min();
        let ends = ends.map(|end| end.saturating_sub(self.elapsed));
        clocked.into_iter().chain(ends).min()
    }
}
