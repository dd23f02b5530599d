//! The words of admission: order, routes, demands, keys.

use std::cmp::Reverse;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::JobId;
use crate::key::Key;
use crate::limiter::RateSize;
use crate::mode::Mode;
use crate::precedence::Stamp;
use crate::time::Timestamp;

/// Where a job stands: priority (higher first), then place, then id (R43). The smaller order goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Order {
    priority: Reverse<i32>,
    place: Timestamp,
    id: JobId,
}

impl Order {
    /// The order of a job; `place` is the instant at which it became ready.
    pub const fn new(priority: i32, place: Timestamp, id: JobId) -> Self {
        Self {
            priority: Reverse(priority),
            place,
            id,
        }
    }

    /// The job.
    pub const fn id(self) -> JobId {
        self.id
    }

    /// Its priority; higher goes first.
    pub const fn priority(self) -> i32 {
        self.priority.0
    }

    /// The instant at which it became ready.
    pub const fn place(self) -> Timestamp {
        self.place
    }

    /// Whether this job became ready before `other`, whatever their priorities.
    pub(crate) fn is_older_than(self, other: Self) -> bool {
        (self.place, self.id) < (other.place, other.id)
    }
}

/// What decides who can run a job: its queue and its kind (R27).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Route {
    /// The queue.
    pub queue: Arc<str>,
    /// The stored name of the contract.
    pub kind: Arc<str>,
}

impl Route {
    /// The route of `kind` through `queue`.
    pub fn new(queue: impl Into<Arc<str>>, kind: impl Into<Arc<str>>) -> Self {
        Self {
            queue: queue.into(),
            kind: kind.into(),
        }
    }
}

/// The families that have keys; each has its own key space (R31).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Family {
    /// `#[mutex]` and `#[semaphore]`.
    Concurrency,
    /// `#[rate_limit]`.
    RateLimit,
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Concurrency => "concurrency",
            Self::RateLimit => "rate limit",
        })
    }
}

/// A key within its family.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct KeyId {
    /// The key space.
    pub family: Family,
    /// The key.
    pub key: Key,
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} key `{}`", self.family, self.key)
    }
}

/// What a job asks of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// The key.
    pub key: KeyId,
    /// One of what.
    pub want: Want,
    /// What a refusal does to the job.
    pub mode: Mode,
}

/// One slot, or one token, with the size that the job's own stamp gives the key (R33).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Want {
    /// A slot, held while the handler runs (R52).
    Slot {
        /// The slots of the key.
        limit: u32,
    },
    /// A token, spent by the start (R60).
    Token(RateSize),
}

/// What a stamped job asks, in the order in which its policies are judged: concurrency, then rate limits (R41).
pub fn demands(stamp: &Stamp) -> Arc<[Demand]> {
    let slot = stamp.concurrency.iter().map(|stamped| Demand {
        key: KeyId {
            family: Family::Concurrency,
            key: stamped.spec.key().clone(),
        },
        want: Want::Slot {
            limit: stamped.spec.limit(),
        },
        mode: stamped.spec.mode(),
    });
    let tokens = stamp.rate_limits.iter().map(|stamped| Demand {
        key: KeyId {
            family: Family::RateLimit,
            key: stamped.spec.key().clone(),
        },
        want: Want::Token(RateSize::from(&stamped.spec)),
        mode: stamped.spec.mode(),
    });
    slot.chain(tokens).collect()
}
