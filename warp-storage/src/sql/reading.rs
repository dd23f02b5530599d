//! What a turn has read.

use std::collections::BTreeMap;

use serde::Serialize;
use warp_policy::admission::{Candidate, Fleet, KeyId, Route, Turn};
use warp_policy::ids::{JobId, LaneId};

use super::documents::{LaneRow, json};
use super::judging::{Read, key_set};
use crate::model::Dispatch;

/// Everything that a turn has read.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) turn: Turn,
    pub(crate) fleet: Fleet,
    /// The lanes that are judged, or seen in a line.
    pub(crate) lanes: BTreeMap<LaneId, LaneRow>,
    pub(crate) looked_at: BTreeMap<KeyId, Option<LaneId>>,
    pub(crate) jobs: BTreeMap<JobId, Read>,
    /// Ready jobs that have to fail.
    pub(crate) failed: Vec<(JobId, String)>,
}

/// The lane that a candidate would join.
#[derive(Debug, Serialize)]
pub(crate) struct KeySet<'a> {
    queue: &'a str,
    kind: &'a str,
    keys: String,
}

/// The lanes that candidates would join, numbered like them.
pub(crate) fn key_sets(candidates: &[Candidate]) -> Vec<KeySet<'_>> {
    candidates.iter().map(set_of).collect()
}

fn set_of(candidate: &Candidate) -> KeySet<'_> {
    let Route { queue, kind } = &candidate.route;
    KeySet {
        queue,
        kind,
        keys: json(&key_set(&candidate.waiter.demands)),
    }
}

/// How many ready jobs a turn reads.
pub(crate) fn fetch_size(dispatch: &Dispatch) -> i64 {
    if dispatch.room == 0 {
        0
    } else {
        number(dispatch.fetch.max(dispatch.room))
    }
}

/// A number of rows.
pub(crate) fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
