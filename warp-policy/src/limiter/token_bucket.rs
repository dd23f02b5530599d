//! The style `token_bucket`: exact refill in integers (R63).

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::batch::Batch;
use super::tally::Tally;
use crate::rate_limit::Window;
use crate::time::Timestamp;

/// A bucket of `count` tokens, full at first, refilled at `count` per window.
///
/// Time is counted in parts, `count` of them to the microsecond. One token then takes exactly `window` (in microseconds) parts to come
/// back, whatever the ratio, and nothing is ever rounded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Bucket {
    count: NonZeroU32,
    /// How long after the last start the bucket is full again: whole microseconds, and parts of one. At most one window.
    refill: (u64, u32),
    tally: Tally,
}

impl Bucket {
    /// A full bucket. A `count` of 0, which no size should have, makes the smallest one.
    pub(super) fn new(count: u32, window: Window) -> Self {
        Self {
            count: at_least_one(count),
            refill: (0, 0),
            tally: Tally::new(window),
        }
    }

    pub(super) fn is_sized(&self, count: u32, window: Window) -> bool {
        self.count == at_least_one(count) && self.tally.window() == window
    }

    pub(super) const fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The tokens that are not back yet. A token that is partly back cannot be spent.
    pub(super) fn used(&self, at: Timestamp) -> u32 {
        let tokens = self.missing(at).div_ceil(self.parts_per_token());
        u32::try_from(tokens).unwrap_or(u32::MAX)
    }

    /// The first microsecond by which enough tokens are back.
    pub(super) fn falls_to(&self, tolerable: u32) -> Timestamp {
        let last = self.tally.last_start().unwrap_or(Timestamp::MIN);
        let tolerable = u128::from(tolerable) * self.parts_per_token();
        let wait = self.missing(last).saturating_sub(tolerable);
        let wait = wait.div_ceil(self.parts_per_micro());
        last.plus_micros(u64::try_from(wait).unwrap_or(u64::MAX))
    }

    /// Spends tokens, at most those that are there: replayed starts of another policy leave no debt (R67).
    pub(super) fn record(&mut self, batch: Batch) {
        let spent = u128::from(batch.starts) * self.parts_per_token();
        let missing = self.capacity().min(self.missing(batch.at) + spent);
        let per_micro = self.parts_per_micro();
        self.refill = (
            u64::try_from(missing / per_micro).unwrap_or(u64::MAX),
            u32::try_from(missing % per_micro).unwrap_or(u32::MAX),
        );
        self.tally.record(batch);
    }

    /// Keeps the level of the last start. What has come back since is lost: nobody knows how long that took.
    pub(super) fn settle(&mut self, now: Timestamp) {
        self.tally.settle(now);
    }

    /// The parts to go from `at` until the bucket is full, where `at` is not before the last start.
    fn missing(&self, at: Timestamp) -> u128 {
        let Some(last) = self.tally.last_start() else {
            return 0;
        };
        let (micros, parts) = self.refill;
        let at_last = u128::from(micros) * self.parts_per_micro() + u128::from(parts);
        let refilled = u128::from(at.micros_since(last)) * self.parts_per_micro();
        // Capped because it may have been stored by somebody else.
        at_last.min(self.capacity()).saturating_sub(refilled)
    }

    fn capacity(&self) -> u128 {
        self.parts_per_micro() * self.parts_per_token()
    }

    fn parts_per_micro(&self) -> u128 {
        u128::from(self.count.get())
    }

    fn parts_per_token(&self) -> u128 {
        u128::from(self.tally.window().as_micros())
    }
}

fn at_least_one(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(count: u32, seconds: i128) -> Bucket {
        Bucket::new(count, Window::from_seconds(seconds).unwrap())
    }

    fn micros(at: i64, starts: u32) -> Batch {
        Batch {
            at: Timestamp::from_micros(at),
            starts,
        }
    }

    /// R63: a token is back at the first whole microsecond after its time, and the fraction is not lost.
    #[test]
    fn refill_is_exact_in_fractions_of_a_microsecond() {
        let mut bucket = bucket(3, 7);
        bucket.record(micros(0, 3));
        assert_eq!(bucket.refill, (7_000_000, 0));
        for (tolerable, due) in [(2, 2_333_334), (1, 4_666_667), (0, 7_000_000)] {
            assert_eq!(bucket.falls_to(tolerable).as_micros(), due);
            assert_eq!(bucket.used(micros(due - 1, 0).at), tolerable + 1);
            assert_eq!(bucket.used(micros(due, 0).at), tolerable);
        }
        bucket.record(micros(2_333_334, 1));
        assert_eq!(bucket.refill, (6_999_999, 1), "2/3 µs of the next token");
    }

    /// R63: time beyond a full bucket banks nothing.
    #[test]
    fn idle_time_never_banks_more_than_the_count() {
        let mut bucket = bucket(5, 10);
        bucket.record(micros(0, 1));
        let later = Timestamp::MAX;
        assert_eq!(bucket.used(later), 0);
        bucket.record(Batch {
            at: later,
            starts: 5,
        });
        assert_eq!(bucket.used(later), 5);
    }

    /// R67: starts beyond an empty bucket leave it empty, not in debt.
    #[test]
    fn an_empty_bucket_is_full_again_after_one_window() {
        let mut bucket = bucket(5, 10);
        bucket.record(micros(0, u32::MAX));
        assert_eq!(bucket.refill, (10_000_000, 0));
        assert_eq!(bucket.used(Timestamp::EPOCH), 5);
        assert_eq!(bucket.falls_to(0), Timestamp::from_secs(10));
    }

    /// R66: the level of the last start holds from `now` on.
    #[test]
    fn settling_keeps_the_level_of_the_last_start() {
        let mut bucket = bucket(5, 10);
        bucket.record(micros(900_000_000, 4));
        bucket.settle(Timestamp::EPOCH);
        assert_eq!(bucket.used(Timestamp::EPOCH), 4);
        assert_eq!(bucket.falls_to(0), Timestamp::from_secs(8));
    }

    /// R16: the largest size, at both ends of time.
    #[test]
    fn the_largest_bucket_does_not_overflow() {
        for at in [Timestamp::MIN, Timestamp::MAX] {
            let mut bucket = bucket(u32::MAX, 604_800);
            bucket.record(Batch {
                at,
                starts: u32::MAX,
            });
            bucket.record(Batch {
                at,
                starts: u32::MAX,
            });
            assert_eq!(bucket.used(at), u32::MAX);
            assert_eq!(bucket.falls_to(0), at.plus_micros(604_800_000_000));
        }
    }

    /// R19: stored nonsense is refused or harmless.
    #[test]
    fn a_stored_bucket_is_never_emptier_than_empty() {
        let stored = |count: i64, refill: &str| {
            let tally = r#"{"window":10000000,"current":[0,1],"previous":null}"#;
            let stored = format!(r#"{{"count":{count},"refill":{refill},"tally":{tally}}}"#);
            serde_json::from_str::<Bucket>(&stored)
        };
        assert!(stored(0, "[0,0]").is_err());
        assert!(stored(-1, "[0,0]").is_err());
        assert!(stored(5, "[-1,0]").is_err());
        let odd = stored(5, "[18446744073709551615,4294967295]").unwrap();
        assert_eq!(odd.used(Timestamp::EPOCH), 5);
        assert_eq!(odd.falls_to(0), Timestamp::from_secs(10));
    }
}
