//! Holds a plan to what it must come to.

use warp_policy::admission::{LaneRef, Plan, Turn};

use super::Expected;
use super::world::World;

impl Expected {
    pub(in super::super) fn compare(&self, turn: &Turn, plan: &Plan) {
        let starts: Vec<_> = plan
            .starts
            .iter()
            .map(|start| (start.job, start.lane, start.at))
            .collect();
        assert_eq!(starts, self.starts, "starts");
        let skips: Vec<_> = plan
            .skips
            .iter()
            .map(|skip| (skip.job, skip.lane, skip.refusal.clone()))
            .collect();
        assert_eq!(skips, self.skips, "skips");
        let waits: Vec<_> = plan
            .waits
            .iter()
            .map(|wait| (wait.job, wait.refusal.clone()))
            .collect();
        let expected = self.waits.iter();
        let expected: Vec<_> = expected.map(|(job, _, why)| (*job, why.clone())).collect();
        assert_eq!(waits, expected, "waits");
        self.world.compare_lanes(plan);
        self.world.compare_keys(turn, plan);
    }
}

impl World {
    fn compare_lanes(&self, plan: &Plan) {
        let mut new = plan.new_lanes.iter();
        for lane in &self.lanes {
            let Some(id) = lane.id else {
                let row = new.next().expect("a new lane");
                assert_eq!((&row.route, &row.keys), (&lane.route, &lane.keys));
                let found = (&row.sleeps_on, row.refusals);
                assert_eq!(found, (&lane.sleeps_on, lane.refusals), "a new lane");
                continue;
            };
            let update = plan.lanes.iter().find(|update| update.lane == id);
            match update {
                Some(update) => {
                    let found = update
                        .state
                        .as_ref()
                        .map(|state| (&state.sleeps_on, state.refusals));
                    let expected = lane.head().map(|_| (&lane.sleeps_on, lane.refusals));
                    assert_eq!(found, expected, "lane {id}");
                }
                None => assert!(lane.is_untouched(), "lane {id} is not written: {lane:?}"),
            }
        }
        assert_eq!(new.next(), None, "a new lane too many");
        for wait in &plan.waits {
            if let LaneRef::New(index) = wait.lane {
                assert!(index < plan.new_lanes.len());
            }
        }
    }

    fn compare_keys(&self, turn: &Turn, plan: &Plan) {
        for (id, key) in &self.keys {
            let before = &turn.keys[id];
            let update = plan.keys.get(id);
            let elder_before = before.elder.as_ref().map(|elder| elder.lane);
            let elder = update.map_or(elder_before, |update| update.elder);
            assert_eq!(elder, key.elder, "R46: the elder of {id}");
            let rate = update.and_then(|update| update.rate.as_ref());
            assert_eq!(rate.unwrap_or(&before.rate), &key.rate, "R40: {id}");
        }
    }
}
