//! Counters of outcomes (R112).

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// What is counted. Totals are sums of their reasons, so that they never disagree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Counter {
    /// Jobs that ended well.
    Succeeded,
    /// Jobs that failed for good.
    Failed,
    /// Attempts that failed with another one to follow.
    Retried,
    /// Jobs that a concurrency policy skipped.
    DeletedConcurrency,
    /// Jobs that a rate limit skipped.
    DeletedRatelimit,
    /// Jobs that were cancelled.
    DeletedCancelled,
    /// Jobs that a concurrency policy put in line.
    RequeuedConcurrency,
    /// Jobs that a rate limit put in line.
    RequeuedRatelimit,
}

impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Retried => "retried",
            Self::DeletedConcurrency => "deleted-concurrency",
            Self::DeletedRatelimit => "deleted-ratelimit",
            Self::DeletedCancelled => "deleted-cancelled",
            Self::RequeuedConcurrency => "requeued-concurrency",
            Self::RequeuedRatelimit => "requeued-ratelimit",
        })
    }
}

/// The counters of a store since its beginning, summed over all workers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters(pub BTreeMap<Counter, u64>);

impl Counters {
    /// One counter.
    pub fn get(&self, counter: Counter) -> u64 {
        self.0.get(&counter).copied().unwrap_or(0)
    }

    /// Jobs that ended without a result: the sum of its reasons.
    pub fn deleted(&self) -> u64 {
        self.get(Counter::DeletedConcurrency)
            + self.get(Counter::DeletedRatelimit)
            + self.get(Counter::DeletedCancelled)
    }

    /// Jobs that a policy put in line: the sum of its reasons.
    pub fn requeued(&self) -> u64 {
        self.get(Counter::RequeuedConcurrency) + self.get(Counter::RequeuedRatelimit)
    }
}
