//! What a store hands to the planner: everything a turn has read under its locks.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::fleet::Fleet;
use super::model::{Demand, KeyId, Order, Route};
use crate::ids::LaneId;
use crate::limiter::RateSize;
use crate::limiter::RateState;
use crate::time::Timestamp;

/// How many lanes of a key's line a turn reads: the first ones that a live worker can run.
pub const LINE_READ: usize = 64;

/// One dispatch turn, after the slots of finished attempts were freed.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The database's clock, read after the limiter locks (R49).
    pub now: Timestamp,
    /// Who can run what.
    pub fleet: Fleet,
    /// How many jobs the worker can start.
    pub room: usize,
    /// Ready jobs.
    pub candidates: Vec<Candidate>,
    /// The lanes to judge.
    pub lanes: Vec<Lane>,
    /// Every locked key: those of the candidates and lanes, and those whose line is to be restored. A job with a key that is not among
    /// them is left as it is.
    pub keys: BTreeMap<KeyId, KeyState>,
}

/// A job that asks to start.
#[derive(Clone, Debug)]
pub struct Waiter {
    /// Where it stands.
    pub order: Order,
    /// What it asks, in the order of judgement.
    pub demands: Arc<[Demand]>,
    /// Whether it never started before. Only then does skip mode skip (R41).
    pub first_start: bool,
}

/// A ready job.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The job.
    pub waiter: Waiter,
    /// Who can run it.
    pub route: Route,
    /// The lane of its queue, kind and key set, where there is one.
    pub lane: Option<LaneView>,
}

/// A lane to judge.
#[derive(Clone, Debug)]
pub struct Lane {
    /// The lane.
    pub view: LaneView,
    /// Its first jobs in order, at least one and one more than the worker has room for, where it has so many.
    pub waiters: Vec<Waiter>,
    /// Whether there are more than these.
    pub more: bool,
}

/// A lane as its key's line shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneView {
    /// The lane.
    pub id: LaneId,
    /// Who can run its jobs.
    pub route: Route,
    /// Where its head stands.
    pub head: Order,
    /// What its head asks of the key that the lane sleeps on.
    pub demand: Demand,
    /// When it is due: not after `now` means due since then; `None` means that only a change of the key can help.
    pub next_at: Option<Timestamp>,
    /// How often its head was refused.
    pub refusals: u32,
}

/// A locked key.
#[derive(Clone, Debug, Default)]
pub struct KeyState {
    /// Slots in use.
    pub used: u32,
    /// Known starts.
    pub rate: RateState,
    /// What an operator set.
    pub control: Control,
    /// The lane whose head has been refused too often (R46).
    pub elder: Option<Elder>,
    /// The first [`LINE_READ`] lanes of its line that a live worker can run, in the order of their heads. Where the line is longer, a route
    /// that this worker cannot run and whose first lane here has been due for a second is left out as a whole: those behind that one
    /// hold up nobody either, and must not fill what is read.
    pub line: Vec<LaneView>,
    /// Whether the line has more such lanes.
    pub line_goes_on: bool,
}

/// What an operator set for a key. The two are independent (R103).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Control {
    /// A size that beats every stamp (R100).
    pub size: Option<SizeOverride>,
    /// Whether the key admits nobody (R102).
    pub pause: Option<Pause>,
}

/// The size of an override (R100).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SizeOverride {
    /// Of a concurrency key.
    Limit(u32),
    /// Of a rate limit key. The style stays each job's own.
    Rate {
        /// Starts per window.
        count: u32,
        /// The window.
        window: crate::rate_limit::Window,
    },
}

/// A paused key (R102).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pause {
    /// Skip-mode jobs are skipped.
    Skip,
    /// Skip-mode jobs are held in line.
    Hold,
}

/// The elder of a key (R46).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elder {
    /// Its lane.
    pub lane: LaneId,
    /// Where the lane's head stands.
    pub head: Order,
    /// Who can run it.
    pub route: Route,
}

impl Control {
    /// The limit in force where a stamp says `limit`.
    pub fn limit(&self, limit: u32) -> u32 {
        match self.size {
            Some(SizeOverride::Limit(size)) => size,
            _ => limit,
        }
    }

    /// The size in force where a stamp says `size`.
    pub fn rate(&self, size: RateSize) -> RateSize {
        match self.size {
            Some(SizeOverride::Rate { count, window }) => RateSize {
                count,
                window,
                ..size
            },
            _ => size,
        }
    }
}
