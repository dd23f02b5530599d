//! One counter of a key, in one of the three styles.

use serde::{Deserialize, Serialize};

use super::batch::Batch;
use super::size::RateSize;
use super::sliding::Log;
use super::tally::Tally;
use super::token_bucket::Bucket;
use crate::rate_limit::Style;
use crate::time::Timestamp;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Counter {
    Fixed(Tally),
    Sliding(Log),
    TokenBucket(Bucket),
}

impl Counter {
    /// A counter that knows of no start.
    pub(super) fn new(size: RateSize) -> Self {
        match size.style {
            Style::Fixed => Self::Fixed(Tally::new(size.window)),
            Style::Sliding => Self::Sliding(Log::new(size.window)),
            Style::TokenBucket => Self::TokenBucket(Bucket::new(size.count, size.window)),
        }
    }

    /// Whether this counter answers for `size`. Only a token bucket's answer depends on more of the past when the count changes.
    pub(super) fn is_for(&self, size: RateSize) -> bool {
        match (self, size.style) {
            (Self::Fixed(tally), Style::Fixed) => tally.window() == size.window,
            (Self::Sliding(log), Style::Sliding) => log.window() == size.window,
            (Self::TokenBucket(bucket), Style::TokenBucket) => {
                bucket.is_sized(size.count, size.window)
            }
            _ => false,
        }
    }

    pub(super) fn last_start(&self) -> Option<Timestamp> {
        match self {
            Self::Fixed(tally) => tally.last_start(),
            Self::Sliding(log) => log.last_start(),
            Self::TokenBucket(bucket) => bucket.tally().last_start(),
        }
    }

    /// How many starts count at `at`, which is not before the last one.
    pub(super) fn used(&self, at: Timestamp) -> u32 {
        match self {
            Self::Fixed(tally) => tally.starts_in_window_of(at),
            Self::Sliding(log) => log.used(at),
            Self::TokenBucket(bucket) => bucket.used(at),
        }
    }

    /// The first instant when only `tolerable` starts count, given that more count at `at` and that nothing starts in between.
    pub(super) fn falls_to(&self, tolerable: u32, at: Timestamp) -> Timestamp {
        match self {
            Self::Fixed(tally) => tally.end_of_window_of(at),
            Self::Sliding(log) => log.falls_to(tolerable, at),
            Self::TokenBucket(bucket) => bucket.falls_to(tolerable),
        }
    }

    /// Adds starts that are not before the last one.
    pub(super) fn record(&mut self, batch: Batch) {
        match self {
            Self::Fixed(tally) => tally.record(batch),
            Self::Sliding(log) => log.record(batch),
            Self::TokenBucket(bucket) => bucket.record(batch),
        }
    }

    /// Moves all known starts to `now` (R49).
    pub(super) fn settle(&mut self, now: Timestamp) {
        match self {
            Self::Fixed(tally) => tally.settle(now),
            Self::Sliding(log) => log.settle(now),
            Self::TokenBucket(bucket) => bucket.settle(now),
        }
    }

    /// The last starts, oldest first, each at the latest instant at which it can have happened. None is missing between two of them.
    pub(super) fn known(&self) -> Vec<Batch> {
        match self {
            Self::Fixed(tally) => tally.known(),
            Self::Sliding(log) => log.known(),
            Self::TokenBucket(bucket) => bucket.tally().known(),
        }
    }
}
