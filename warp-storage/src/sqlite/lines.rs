//! What is written about lanes and limiters, by a turn or without one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;
use warp_policy::Timestamp;
use warp_policy::admission::{Family, KeyId, KeyUpdate, LaneRef, LaneState, NewLane, Plan};
use warp_policy::ids::LaneId;

use super::documents::{LaneRow, json};
use super::error::SqliteError;
use super::statements::{LANES_DELETE, LANES_WRITE, LIMITERS_WRITE};
use super::writer::Session;

/// What is written about lanes and limiters.
#[derive(Debug)]
pub(super) struct LineWrites {
    lanes: Vec<LaneWrite>,
    gone: Vec<LaneId>,
    limiters: Vec<LimiterWrite>,
}

/// A lane as `lanes_write.sql` takes it.
#[derive(Debug, Serialize)]
struct LaneWrite {
    id: LaneId,
    queue: Arc<str>,
    kind: Arc<str>,
    keys: String,
    sleep_family: Family,
    sleep_key: String,
    next_at: Option<Timestamp>,
    refusals: u32,
}

/// A limiter as `limiters_write.sql` takes it.
#[derive(Debug, Serialize)]
struct LimiterWrite {
    family: Family,
    key: String,
    rate: Option<String>,
    elder: Option<LaneId>,
    look_at: Option<Timestamp>,
}

impl LineWrites {
    /// What a plan asks for. `lanes` are those that were read, `looked_at` the keys that asked to be looked at, with their elders.
    pub(super) fn of(
        plan: &Plan,
        lanes: &BTreeMap<LaneId, LaneRow>,
        looked_at: &BTreeMap<KeyId, Option<LaneId>>,
        last_lane: i64,
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
        let changed = changed_lanes(plan);
        let kept = changed.iter().filter_map(|id| {
            let state = states.get(id).copied();
            // A lane whose state is as it was may have another head.
            match (lanes.get(id), state) {
                (_, Some(None)) | (None, _) => None,
                (Some(row), Some(Some(state))) => Some(lane_write(row, state)),
                (Some(row), None) => Some(lane_write(row, &state_of(row))),
            }
        });
        let new = plan
            .new_lanes
            .iter()
            .zip(last_lane + 1..)
            .map(|(lane, id)| new_lane_write(lane, LaneId::new(id)));
        Self {
            lanes: kept.chain(new).collect(),
            gone,
            limiters: limiter_writes(plan, looked_at),
        }
    }

    /// Writes it, after the jobs: the head of a lane is whoever is first then.
    pub(super) async fn write(self, session: &mut Session) -> Result<(), SqliteError> {
        if !self.lanes.is_empty() {
            session
                .execute(sqlx::query(LANES_WRITE).bind(json(&self.lanes)))
                .await?;
        }
        if !self.gone.is_empty() {
            session
                .execute(sqlx::query(LANES_DELETE).bind(json(&self.gone)))
                .await?;
        }
        if !self.limiters.is_empty() {
            session
                .execute(sqlx::query(LIMITERS_WRITE).bind(json(&self.limiters)))
                .await?;
        }
        Ok(())
    }
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

/// The id of a lane that a plan names.
pub(super) fn lane_id(lane: LaneRef, last_lane: i64) -> LaneId {
    match lane {
        LaneRef::Existing(id) => id,
        LaneRef::New(index) => LaneId::new(
            last_lane
                .saturating_add_unsigned(index as u64)
                .saturating_add(1),
        ),
    }
}

fn state_of(row: &LaneRow) -> LaneState {
    LaneState {
        sleeps_on: row.sleeps_on(),
        next_at: row.next_at,
        refusals: row.refusals,
    }
}

fn lane_write(row: &LaneRow, state: &LaneState) -> LaneWrite {
    LaneWrite {
        id: row.id,
        queue: row.route.queue.clone(),
        kind: row.route.kind.clone(),
        keys: json(&row.keys),
        sleep_family: state.sleeps_on.family,
        sleep_key: state.sleeps_on.key.to_string(),
        next_at: state.next_at,
        refusals: state.refusals,
    }
}

fn new_lane_write(lane: &NewLane, id: LaneId) -> LaneWrite {
    LaneWrite {
        id,
        queue: lane.route.queue.clone(),
        kind: lane.route.kind.clone(),
        keys: json(&lane.keys),
        sleep_family: lane.sleeps_on.family,
        sleep_key: lane.sleeps_on.key.to_string(),
        next_at: lane.next_at,
        refusals: lane.refusals,
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
