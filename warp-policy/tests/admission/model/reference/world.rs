//! What the reference knows during a turn.

use std::collections::BTreeMap;

use warp_policy::Timestamp;
use warp_policy::admission::{
    Candidate, Control, Fleet, KeyId, KeyState, LaneView, Order, Route, Turn, Waiter, Want,
};
use warp_policy::ids::LaneId;
use warp_policy::limiter::RateState;

#[derive(Debug)]
pub(super) struct World {
    pub(super) now: Timestamp,
    pub(super) fleet: Fleet,
    pub(super) room: usize,
    pub(super) lanes: Vec<Lane>,
    pub(super) keys: BTreeMap<KeyId, Key>,
    pub(super) elder_heads: BTreeMap<LaneId, Order>,
}

#[derive(Debug)]
pub(super) struct Key {
    pub(super) control: Control,
    pub(super) used: u32,
    pub(super) rate: RateState,
    pub(super) elder: Option<LaneId>,
    pub(super) horizon: Option<Order>,
}

#[derive(Debug)]
pub(super) struct Lane {
    pub(super) id: Option<LaneId>,
    pub(super) route: Route,
    pub(super) keys: Vec<KeyId>,
    pub(super) sleeps_on: KeyId,
    pub(super) next_at: Option<Timestamp>,
    pub(super) refusals: u32,
    pub(super) to_judge: bool,
    pub(super) waiters: Vec<Waiter>,
    pub(super) more: bool,
    seen_head: Option<Order>,
    before: Option<(KeyId, u32)>,
}

impl World {
    pub(super) fn new(turn: &Turn) -> Self {
        let elders = turn.keys.values().filter_map(|state| state.elder.as_ref());
        let mut world = Self {
            now: turn.now,
            fleet: turn.fleet.clone(),
            room: turn.room,
            lanes: Vec::new(),
            elder_heads: elders.map(|elder| (elder.lane, elder.head)).collect(),
            keys: turn
                .keys
                .iter()
                .map(|(key, state)| (key.clone(), Key::new(state, turn)))
                .collect(),
        };
        for lane in &turn.lanes {
            let keys = key_set(&lane.waiters[0]);
            let index = world.see(&lane.view);
            world.lanes[index].keys = keys;
            world.lanes[index].waiters = lane.waiters.clone();
            world.lanes[index].more = lane.more;
            world.lanes[index].to_judge = turn.fleet.i_can_run(&lane.view.route);
        }
        for view in turn.keys.values().flat_map(|state| &state.line) {
            world.see(view);
        }
        for candidate in &turn.candidates {
            if let Some(view) = &candidate.lane {
                let index = world.see(view);
                world.lanes[index].keys = key_set(&candidate.waiter);
            }
        }
        world
    }

    fn see(&mut self, view: &LaneView) -> usize {
        let known = self.lanes.iter().position(|lane| lane.id == Some(view.id));
        known.unwrap_or_else(|| {
            self.lanes.push(Lane {
                id: Some(view.id),
                route: view.route.clone(),
                keys: Vec::new(),
                sleeps_on: view.demand.key.clone(),
                next_at: view.next_at,
                refusals: view.refusals,
                to_judge: false,
                waiters: Vec::new(),
                more: true,
                seen_head: Some(view.head),
                before: Some((view.demand.key.clone(), view.refusals)),
            });
            self.lanes.len() - 1
        })
    }

    pub(super) fn lane_of(&self, candidate: &Candidate) -> Option<usize> {
        let keys = key_set(&candidate.waiter);
        let mut lanes = self.lanes.iter();
        lanes.position(|lane| lane.route == candidate.route && lane.keys == keys)
    }

    pub(super) fn add_lane(&mut self, candidate: &Candidate, key: &KeyId) -> usize {
        self.lanes.push(Lane {
            id: None,
            route: candidate.route.clone(),
            keys: key_set(&candidate.waiter),
            sleeps_on: key.clone(),
            next_at: None,
            refusals: 0,
            to_judge: false,
            waiters: Vec::new(),
            more: false,
            seen_head: None,
            before: None,
        });
        self.lanes.len() - 1
    }

    /// The lanes that sleep on a key and that somebody can run, by their heads.
    pub(super) fn line(&self, key: &KeyId) -> Vec<usize> {
        let stands = |&index: &usize| {
            let lane = &self.lanes[index];
            lane.sleeps_on == *key && lane.head().is_some() && self.fleet.can_run(&lane.route)
        };
        let mut line: Vec<usize> = (0..self.lanes.len()).filter(stands).collect();
        line.sort_by_key(|&index| self.lanes[index].head());
        line
    }

    /// Takes everything that a start takes (R40).
    pub(super) fn take(&mut self, waiter: &Waiter, at: Timestamp) {
        self.room -= 1;
        for demand in &*waiter.demands {
            let key = self.keys.get_mut(&demand.key).expect("a key of the turn");
            match key.size(demand.want) {
                Want::Token(size) => key.rate.book(size, at),
                _ => key.used += 1,
            }
        }
    }

    pub(super) fn end_elder(&mut self, lane: Option<LaneId>) {
        for key in self.keys.values_mut() {
            key.elder = key.elder.filter(|&elder| Some(elder) != lane);
        }
    }
}

impl Key {
    fn new(state: &KeyState, turn: &Turn) -> Self {
        let mut rate = state.rate.clone();
        rate.settle(turn.now);
        let elder = state.elder.as_ref();
        Self {
            control: state.control,
            used: state.used,
            rate,
            elder: elder
                .filter(|elder| turn.fleet.can_run(&elder.route))
                .map(|elder| elder.lane),
            horizon: state
                .line
                .last()
                .filter(|_| state.line_goes_on)
                .map(|lane| lane.head),
        }
    }

    pub(super) fn size(&self, want: Want) -> Want {
        match want {
            Want::Slot { limit } => Want::Slot {
                limit: self.control.limit(limit),
            },
            Want::Token(size) => Want::Token(self.control.rate(size)),
            _ => want,
        }
    }

    pub(super) fn used(&self, want: Want, at: Timestamp) -> u32 {
        match self.size(want) {
            Want::Token(size) => self.rate.used(size, at),
            _ => self.used,
        }
    }

    pub(super) fn free(&self, want: Want, at: Timestamp) -> u32 {
        match self.size(want) {
            Want::Slot { limit } => limit.saturating_sub(self.used),
            Want::Token(size) => size.count.saturating_sub(self.rate.used(size, at)),
            _ => 0,
        }
    }
}

impl Lane {
    pub(super) fn head(&self) -> Option<Order> {
        let first = self.waiters.first().map(|waiter| waiter.order);
        first.or(self.seen_head)
    }

    /// Whether there is nothing to write, its instant apart.
    pub(super) fn is_untouched(&self) -> bool {
        self.head().is_some() && self.before == Some((self.sleeps_on.clone(), self.refusals))
    }

    pub(super) fn is_due(&self, now: Timestamp) -> bool {
        self.next_at.is_some_and(|at| at <= now)
    }

    pub(super) fn pop(&mut self) {
        self.waiters.remove(0);
        self.seen_head = None;
        self.refusals = 0;
        self.to_judge = !self.waiters.is_empty();
    }

    pub(super) fn sleep_on(&mut self, key: &KeyId) {
        if self.sleeps_on != *key {
            self.next_at = None;
        }
        self.sleeps_on = key.clone();
    }
}

fn key_set(waiter: &Waiter) -> Vec<KeyId> {
    let mut keys: Vec<KeyId> = waiter.demands.iter().map(|d| d.key.clone()).collect();
    keys.sort_unstable();
    keys
}
