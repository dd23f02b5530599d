//! What is written about lanes and limiters, by a turn or without one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;
use warp_policy::Timestamp;
use warp_policy::admission::{
    Family, KeyId, KeyUpdate, LaneRef, LaneState, NewLane, Order, Plan, Turn,
};
use warp_policy::ids::{JobId, LaneId};

use super::documents::{LaneRow, json, rank};

/// What is written about lanes and limiters.
#[derive(Debug)]
pub(crate) struct LineWrites {
    pub(crate) lanes: Vec<LaneWrite>,
    pub(crate) new: Vec<LaneWrite>,
    pub(crate) gone: Vec<LaneId>,
    pub(crate) limiters: Vec<LimiterWrite>,
}

/// A lane as it is written. A new one has no id yet, but its number among them.
#[derive(Debug, Serialize)]
pub(crate) struct LaneWrite {
    pub(crate) id: Option<LaneId>,
    pub(crate) number: usize,
    queue: Arc<str>,
    kind: Arc<str>,
    keys: String,
    sleep_family: Family,
    sleep_key: String,
    next_at: Option<Timestamp>,
    refusals: u32,
    rank: i64,
    place: Timestamp,
    head: JobId,
}

/// A limiter as `limiters_write.sql` takes it.
#[derive(Debug, Serialize)]
pub(crate) struct LimiterWrite {
    family: Family,
    key: String,
    rate: Option<String>,
    elder: Option<LaneId>,
    look_at: Option<Timestamp>,
}

/// The jobs that can be at the head of a lane once a turn is over.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    /// The first jobs of the lanes that are judged.
    waiters: BTreeMap<LaneId, Vec<Order>>,
    /// The ready jobs that may join one.
    candidates: BTreeMap<JobId, Order>,
}

impl Heads {
    pub(crate) fn of(turn: &Turn) -> Self {
        let orders = |lane: &warp_policy::admission::Lane| {
            let waiters = lane.waiters.iter().map(|waiter| waiter.order);
            (lane.view.id, waiters.collect())
        };
        let candidates = turn.candidates.iter().map(|candidate| {
            let order = candidate.waiter.order;
            (order.id(), order)
        });
        Self {
            waiters: turn.lanes.iter().map(orders).collect(),
            candidates: candidates.collect(),
        }
    }

    /// The first of the jobs that a plan puts into a lane.
    fn joining(&self, plan: &Plan, lane: LaneRef) -> Option<Order> {
        let waits = plan.waits.iter().filter(|wait| wait.lane == lane);
        waits
            .filter_map(|wait| self.candidates.get(&wait.job).copied())
            .min()
    }

    /// The head of a lane after a plan: the first of those that stay and those that join.
    fn after(&self, plan: &Plan, left: &BTreeSet<JobId>, row: &LaneRow) -> Option<Order> {
        let seen = [row.order()];
        let waiters = self.waiters.get(&row.id).map_or(&seen[..], Vec::as_slice);
        let stays = waiters.iter().filter(|order| !left.contains(&order.id()));
        stays
            .copied()
            .chain(self.joining(plan, LaneRef::Existing(row.id)))
            .min()
    }
}

impl LineWrites {
    /// What a plan asks for. `lanes` are those that were read, `looked_at` the keys that asked to be looked at, with their elders.
    pub(crate) fn of(
        plan: &Plan,
        heads: &Heads,
        lanes: &BTreeMap<LaneId, LaneRow>,
        looked_at: &BTreeMap<KeyId, Option<LaneId>>,
    ) -> Self {
        let states: BTreeMap<LaneId, Option<&LaneState>> = plan
            .lanes
            .iter()
            .map(|update| (update.lane, update.state.as_ref()))
            .collect();
        let gone = states
            .iter()
            .filter(|(_, state)| state.is_none())
            .map(|(&id, _)| id)
            .collect();
        let left = left(plan);
        let kept = changed_lanes(plan).into_iter().filter_map(|id| {
            let row = lanes.get(&id)?;
            let order = heads.after(plan, &left, row);
            // A lane whose state is as it was may have another head.
            match states.get(&id) {
                Some(None) => None,
                Some(Some(state)) => Some(lane_write(row, state, order?)),
                None => Some(lane_write(row, &state_of(row), order?)),
            }
        });
        let new = plan
            .new_lanes
            .iter()
            .enumerate()
            .filter_map(|(number, lane)| {
                let order = heads.joining(plan, LaneRef::New(number))?;
                Some(new_lane_write(lane, number, order))
            });
        Self {
            lanes: kept.collect(),
            new: new.collect(),
            gone,
            limiters: limiter_writes(plan, looked_at),
        }
    }
}

/// The jobs that leave their lanes.
fn left(plan: &Plan) -> BTreeSet<JobId> {
    let started = plan.starts.iter().map(|start| start.job);
    started
        .chain(plan.skips.iter().map(|skip| skip.job))
        .collect()
}

/// The lanes of the store that a plan changes, or whose jobs it moves.
fn changed_lanes(plan: &Plan) -> BTreeSet<LaneId> {
    let left = plan
        .starts
        .iter()
        .map(|start| start.lane)
        .chain(plan.skips.iter().map(|skip| skip.lane));
    let joined = plan.waits.iter().map(|wait| match wait.lane {
        LaneRef::Existing(id) => Some(id),
        LaneRef::New(_) => None,
    });
    let updated = plan.lanes.iter().map(|update| update.lane);
    left.chain(joined).flatten().chain(updated).collect()
}

fn state_of(row: &LaneRow) -> LaneState {
    LaneState {
        sleeps_on: row.sleeps_on(),
        next_at: row.next_at,
        refusals: row.refusals,
    }
}

fn lane_write(row: &LaneRow, state: &LaneState, order: Order) -> LaneWrite {
    LaneWrite {
        id: Some(row.id),
        number: 0,
        queue: row.route.queue.clone(),
        kind: row.route.kind.clone(),
        keys: json(&row.keys),
        sleep_family: state.sleeps_on.family,
        sleep_key: state.sleeps_on.key.to_string(),
        next_at: state.next_at,
        refusals: state.refusals,
        rank: rank(order.priority()),
        place: order.place(),
        head: order.id(),
    }
}

fn new_lane_write(lane: &NewLane, number: usize, order: Order) -> LaneWrite {
    LaneWrite {
        id: None,
        number,
        queue: lane.route.queue.clone(),
        kind: lane.route.kind.clone(),
        keys: json(&lane.keys),
        sleep_family: lane.sleeps_on.family,
        sleep_key: lane.sleeps_on.key.to_string(),
        next_at: lane.next_at,
        refusals: lane.refusals,
        rank: rank(order.priority()),
        place: order.place(),
        head: order.id(),
    }
}

/// The limiters that a plan changes; what it does not ask to be looked at again has been looked at.
fn limiter_writes(plan: &Plan, looked_at: &BTreeMap<KeyId, Option<LaneId>>) -> Vec<LimiterWrite> {
    let looked_at = looked_at
        .iter()
        .filter(|(key, _)| !plan.keys.contains_key(key));
    let done = looked_at.map(|(key, &elder)| (key, None, elder, None));
    let changed = plan.keys.iter().map(
        |(
            key,
            KeyUpdate {
                rate,
                elder,
                look_at,
            },
        )| (key, rate.as_ref().map(json), *elder, *look_at),
    );
    let write = |(key, rate, elder, look_at): (
        &KeyId,
        Option<String>,
        Option<LaneId>,
        Option<Timestamp>,
    )| LimiterWrite {
        family: key.family,
        key: key.key.to_string(),
        rate,
        elder,
        look_at,
    };
    changed.chain(done).map(write).collect()
}
