//! Workers.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use warp_policy::ids::WorkerId;

/// A worker that begins.
#[derive(Clone, Debug)]
pub struct NewWorker {
    /// A name for people; need not be unique.
    pub name: String,
    /// The queues it serves.
    pub queues: BTreeSet<Arc<str>>,
    /// The kinds it has handlers for, older names included (R27).
    pub kinds: BTreeSet<Arc<str>>,
    /// After so long a silence it is dead (R80).
    pub lease: Duration,
}

/// How to sweep.
#[derive(Clone, Copy, Debug)]
pub struct Sweep {
    /// At so many attempts lost with their worker a job fails (R84).
    pub max_lost: u32,
}

/// What a sweep did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Workers that were declared dead, each with the number of jobs that were lost with it.
    pub dead: Vec<(WorkerId, usize)>,
    /// Lanes that slept although they could go: each is a lost wake-up.
    pub repaired: usize,
    /// Limiter rows that were forgotten (R68).
    pub forgotten: usize,
}
