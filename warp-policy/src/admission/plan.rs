//! What the planner answers: everything the store has to write.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::model::{KeyId, Route, Want};
use crate::ids::{JobId, LaneId};
use crate::limiter::RateState;
use crate::time::Timestamp;

/// What a turn decided. A candidate that is in no list stays as it is.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Jobs that start.
    pub starts: Vec<Start>,
    /// Jobs that go into a lane.
    pub waits: Vec<Wait>,
    /// Jobs that end as `Deleted`.
    pub skips: Vec<Skip>,
    /// Lanes to insert; [`LaneRef::New`] is an index into these.
    pub new_lanes: Vec<NewLane>,
    /// Lanes to change or delete.
    pub lanes: Vec<LaneUpdate>,
    /// Limiter rows to change.
    pub keys: BTreeMap<KeyId, KeyUpdate>,
}

/// A job that starts. It takes a slot of each concurrency key it demands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The job.
    pub job: JobId,
    /// The lane it leaves.
    pub lane: Option<LaneId>,
    /// The admission instant (R49).
    pub at: Timestamp,
}

/// A job that goes into a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The job.
    pub job: JobId,
    /// Its lane.
    pub lane: LaneRef,
    /// Why.
    pub refusal: Refusal,
}

/// A job that a policy in skip mode turned away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    /// The job.
    pub job: JobId,
    /// The lane it leaves.
    pub lane: Option<LaneId>,
    /// Why.
    pub refusal: Refusal,
}

/// Why a job was not admitted, with the numbers in force at that moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The key that refused.
    pub key: KeyId,
    /// Its size, an override's if there is one.
    pub size: Want,
    /// Slots in use, or starts that count.
    pub used: u32,
    /// What stood in the way.
    pub cause: Cause,
}

/// What stood in the way of a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cause {
    /// No slot or token was free.
    Full,
    /// What was free belongs to jobs ahead in the line, or to the key's elder.
    Line,
    /// The key is paused.
    Paused,
}

/// A lane, which may have no id yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a store must handle both")]
pub enum LaneRef {
    /// A lane of the store.
    Existing(LaneId),
    /// The lane with this index in [`Plan::new_lanes`].
    New(usize),
}

/// A lane to insert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLane {
    /// Its queue and kind.
    pub route: Route,
    /// Its key set, sorted.
    pub keys: Vec<KeyId>,
    /// The key that refused its head.
    pub sleeps_on: KeyId,
    /// When it is due.
    pub next_at: Option<Timestamp>,
    /// How often its head was refused.
    pub refusals: u32,
}

/// A lane to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneUpdate {
    /// The lane.
    pub lane: LaneId,
    /// What it becomes; `None` deletes the lane, which is empty.
    pub state: Option<LaneState>,
}

/// The changing part of a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneState {
    /// The key that refused its head.
    pub sleeps_on: KeyId,
    /// When it is due.
    pub next_at: Option<Timestamp>,
    /// How often its head was refused.
    pub refusals: u32,
}

/// A limiter row to change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyUpdate {
    /// The known starts, where they changed.
    pub rate: Option<RateState>,
    /// The elder from now on.
    pub elder: Option<LaneId>,
    /// When a turn must look at this key's line again although nothing else happens: its line was longer than what could be read.
    pub look_at: Option<Timestamp>,
}
