//! The lanes that a turn knows, whether it judges them or only sees them in a line.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::model::{Demand, KeyId, Order, Route};
use super::plan::{LaneRef, LaneState, LaneUpdate, NewLane};
use super::turn::{Lane, LaneView, Waiter};
use crate::ids::LaneId;
use crate::time::Timestamp;

/// The number of a lane within one turn.
pub(super) type LaneIndex = usize;

/// One lane during a turn.
#[derive(Debug)]
pub(super) struct LaneWork {
    pub(super) id: Option<LaneId>,
    pub(super) route: Route,
    pub(super) sleeps_on: KeyId,
    pub(super) next_at: Option<Timestamp>,
    pub(super) refusals: u32,
    /// The head; `None` once the lane is empty.
    pub(super) head: Option<Order>,
    /// The jobs that were read or added, head first. Empty where the lane is only seen in a line.
    waiters: VecDeque<Waiter>,
    /// Whether the store has more jobs than were read.
    more: bool,
    /// What the head asks of `sleeps_on`, while no waiter was read.
    head_demand: Option<Demand>,
    before: Option<LaneState>,
}

impl LaneWork {
    fn seen(view: LaneView) -> Self {
        let before = LaneState {
            sleeps_on: view.demand.key.clone(),
            next_at: view.next_at,
            refusals: view.refusals,
        };
        Self {
            id: Some(view.id),
            route: view.route,
            sleeps_on: view.demand.key.clone(),
            next_at: view.next_at,
            refusals: view.refusals,
            head: Some(view.head),
            waiters: VecDeque::new(),
            more: true,
            head_demand: Some(view.demand),
            before: Some(before),
        }
    }

    /// The head, where it was read.
    pub(super) fn first(&self) -> Option<&Waiter> {
        self.waiters.front()
    }

    /// Whether the job behind the head was not read, so that the lane must not be judged further in this turn.
    pub(super) fn is_read_up(&self) -> bool {
        self.more && self.waiters.len() < 2
    }

    /// Takes the head out; the next one has not been refused yet.
    pub(super) fn pop(&mut self) {
        self.waiters.pop_front();
        self.head = self.waiters.front().map(|waiter| waiter.order);
        self.head_demand = None;
        self.refusals = 0;
    }

    /// Adds a job. It becomes the head where it goes before it.
    pub(super) fn push(&mut self, waiter: Waiter) {
        match self.head {
            Some(head) if head < waiter.order => {}
            _ => {
                self.head = Some(waiter.order);
                self.waiters.push_front(waiter);
                self.refusals = 0;
            }
        }
    }

    /// Lets the lane sleep on the key that refused its head. On another key than before it has not been due yet.
    pub(super) fn sleep_on(&mut self, key: &KeyId) {
        if self.sleeps_on != *key {
            self.sleeps_on = key.clone();
            self.next_at = None;
        }
    }

    /// What the head asks of the key that the lane sleeps on.
    pub(super) fn demand(&self) -> Option<&Demand> {
        match self.waiters.front() {
            Some(head) => head
                .demands
                .iter()
                .find(|demand| demand.key == self.sleeps_on),
            None => self.head_demand.as_ref(),
        }
    }

    fn state(&self) -> LaneState {
        LaneState {
            sleeps_on: self.sleeps_on.clone(),
            next_at: self.next_at,
            refusals: self.refusals,
        }
    }
}

/// All lanes of a turn.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    all: Vec<LaneWork>,
    by_id: BTreeMap<LaneId, LaneIndex>,
    by_keys: BTreeMap<(Route, Vec<KeyId>), LaneIndex>,
}

impl Lanes {
    /// The index of a lane of the store.
    pub(super) fn see(&mut self, view: LaneView) -> LaneIndex {
        if let Some(&index) = self.by_id.get(&view.id) {
            return index;
        }
        let index = self.all.len();
        self.by_id.insert(view.id, index);
        self.all.push(LaneWork::seen(view));
        index
    }

    /// The index of a lane that is judged.
    pub(super) fn load(&mut self, lane: Lane) -> LaneIndex {
        let index = self.see(lane.view);
        self.all[index].waiters = lane.waiters.into();
        self.all[index].more = lane.more;
        index
    }

    /// The lane that a new job of this route and these demands belongs to; made where there is none.
    pub(super) fn of_candidate(
        &mut self,
        route: &Route,
        demands: &Arc<[Demand]>,
        sleeps_on: &KeyId,
    ) -> LaneIndex {
        let index = self.all.len();
        let known = *self
            .by_keys
            .entry((route.clone(), key_set(demands)))
            .or_insert(index);
        if known == index {
            self.all.push(LaneWork {
                id: None,
                route: route.clone(),
                sleeps_on: sleeps_on.clone(),
                next_at: None,
                refusals: 0,
                head: None,
                waiters: VecDeque::new(),
                more: false,
                head_demand: None,
                before: None,
            });
        }
        known
    }

    /// The lane that a new job of this route and these demands belongs to, where there is one.
    pub(super) fn find(&self, route: &Route, demands: &Arc<[Demand]>) -> Option<LaneIndex> {
        self.by_keys
            .get(&(route.clone(), key_set(demands)))
            .copied()
    }

    /// Makes a lane known as the one that candidates of this route and these demands belong to.
    pub(super) fn join(&mut self, route: &Route, demands: &Arc<[Demand]>, index: LaneIndex) {
        self.by_keys
            .entry((route.clone(), key_set(demands)))
            .or_insert(index);
    }

    pub(super) fn get(&self, index: LaneIndex) -> &LaneWork {
        &self.all[index]
    }

    pub(super) fn get_mut(&mut self, index: LaneIndex) -> &mut LaneWork {
        &mut self.all[index]
    }

    /// What to insert and what to change, with the reference of each lane for the waits.
    pub(super) fn finish(mut self) -> (Vec<NewLane>, Vec<LaneUpdate>, Vec<LaneRef>) {
        let mut new_lanes = Vec::new();
        let mut updates = Vec::new();
        let mut refs = Vec::new();
        let mut key_sets: BTreeMap<LaneIndex, Vec<KeyId>> = std::mem::take(&mut self.by_keys)
            .into_iter()
            .map(|((_, keys), index)| (index, keys))
            .collect();
        for (index, lane) in self.all.into_iter().enumerate() {
            let Some(id) = lane.id else {
                refs.push(LaneRef::New(new_lanes.len()));
                new_lanes.push(NewLane {
                    keys: key_sets.remove(&index).unwrap_or_default(),
                    sleeps_on: lane.sleeps_on,
                    next_at: lane.next_at,
                    refusals: lane.refusals,
                    route: lane.route,
                });
                continue;
            };
            refs.push(LaneRef::Existing(id));
            let state = lane.head.is_some().then(|| lane.state());
            if state != lane.before {
                updates.push(LaneUpdate { lane: id, state });
            }
        }
        (new_lanes, updates, refs)
    }
}

fn key_set(demands: &Arc<[Demand]>) -> Vec<KeyId> {
    let mut keys: Vec<KeyId> = demands.iter().map(|demand| demand.key.clone()).collect();
    keys.sort_unstable();
    keys
}
