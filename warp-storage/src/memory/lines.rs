//! The lanes by the key they sleep on, and by the instant at which they are due.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

use warp_policy::Timestamp;
use warp_policy::admission::{KeyId, Order, Route};
use warp_policy::ids::LaneId;

use super::rows::LaneRow;

/// Two indexes over the lanes. Both are kept by route, so that lanes which nobody can run cost nothing.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Lines {
    by_key: BTreeMap<KeyId, BTreeMap<Route, BTreeSet<(Order, LaneId)>>>,
    by_due: HashMap<Route, BTreeSet<(Timestamp, LaneId)>>,
}

impl Lines {
    pub(super) fn insert(&mut self, id: LaneId, lane: &LaneRow) {
        let Some(&head) = lane.waiters.first() else {
            return;
        };
        let routes = self.by_key.entry(lane.sleeps_on.clone()).or_default();
        routes
            .entry(lane.route.clone())
            .or_default()
            .insert((head, id));
        if let Some(at) = lane.next_at {
            self.by_due
                .entry(lane.route.clone())
                .or_default()
                .insert((at, id));
        }
    }

    pub(super) fn remove(&mut self, id: LaneId, lane: &LaneRow) {
        let Some(&head) = lane.waiters.first() else {
            return;
        };
        if let Some(line) = self.by_key.get_mut(&lane.sleeps_on) {
            if let Some(lanes) = line.get_mut(&lane.route) {
                lanes.remove(&(head, id));
                if lanes.is_empty() {
                    line.remove(&lane.route);
                }
            }
            if line.is_empty() {
                self.by_key.remove(&lane.sleeps_on);
            }
        }
        if let (Some(at), Some(due)) = (lane.next_at, self.by_due.get_mut(&lane.route)) {
            due.remove(&(at, id));
            if due.is_empty() {
                self.by_due.remove(&lane.route);
            }
        }
    }

    /// The line of a key, by route, each in the order of its heads.
    pub(super) fn of(
        &self,
        key: &KeyId,
    ) -> impl Iterator<Item = (&Route, &BTreeSet<(Order, LaneId)>)> {
        self.by_key.get(key).into_iter().flatten()
    }

    /// Whether any lane sleeps on a key.
    pub(super) fn has(&self, key: &KeyId) -> bool {
        self.by_key.contains_key(key)
    }

    /// The keys with a line.
    pub(super) fn keys(&self) -> impl Iterator<Item = &KeyId> {
        self.by_key.keys()
    }

    /// The next keys with a line behind `after`.
    pub(super) fn keys_after(&self, after: Option<&KeyId>) -> impl Iterator<Item = &KeyId> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.by_key
            .range((from, Bound::Unbounded))
            .map(|(key, _)| key)
    }

    /// The lanes of a route by the instant at which they are due.
    pub(super) fn due(&self, route: &Route) -> impl Iterator<Item = (Timestamp, LaneId)> {
        self.by_due.get(route).into_iter().flatten().copied()
    }
}
