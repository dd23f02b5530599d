//! The style `sliding`: an exact log (R62).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::batch::Batch;
use crate::rate_limit::{MAX_SLIDING_COUNT, Window};
use crate::time::Timestamp;

/// The starts of one window, oldest first, and no more of them than the largest count: older ones never decide anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredLog", into = "StoredLog")]
pub(super) struct Log {
    window: Window,
    batches: VecDeque<Batch>,
    /// The sum over `batches`.
    starts: u32,
}

impl Log {
    pub(super) const fn new(window: Window) -> Self {
        Self {
            window,
            batches: VecDeque::new(),
            starts: 0,
        }
    }

    pub(super) const fn window(&self) -> Window {
        self.window
    }

    pub(super) fn last_start(&self) -> Option<Timestamp> {
        self.batches.back().map(|batch| batch.at)
    }

    pub(super) fn used(&self, at: Timestamp) -> u32 {
        let gone = self.batches.iter().take_while(|batch| self.left(batch, at));
        gone.fold(self.starts, |used, batch| used.saturating_sub(batch.starts))
    }

    /// The instant when enough of the oldest starts leave the window (S15).
    pub(super) fn falls_to(&self, tolerable: u32, at: Timestamp) -> Timestamp {
        let mut used = self.used(at);
        let counting = self.batches.iter().skip_while(|batch| self.left(batch, at));
        for batch in counting {
            used = used.saturating_sub(batch.starts);
            if used <= tolerable {
                return batch.at.plus_micros(self.window.as_micros());
            }
        }
        at
    }

    pub(super) fn record(&mut self, batch: Batch) {
        while self
            .batches
            .front()
            .is_some_and(|oldest| self.left(oldest, batch.at))
        {
            self.drop_oldest(u32::MAX);
        }
        let starts = batch.starts.min(MAX_SLIDING_COUNT);
        match self.batches.back_mut() {
            Some(newest) if newest.at == batch.at => newest.starts += starts,
            _ => self.batches.push_back(Batch { starts, ..batch }),
        }
        self.starts += starts;
        while self.starts > MAX_SLIDING_COUNT {
            self.drop_oldest(self.starts - MAX_SLIDING_COUNT);
        }
    }

    pub(super) fn settle(&mut self, now: Timestamp) {
        let mut settled = Self::new(self.window);
        settled.record(Batch {
            at: now,
            starts: self.starts,
        });
        *self = settled;
    }

    pub(super) fn known(&self) -> Vec<Batch> {
        self.batches.iter().copied().collect()
    }

    /// Whether a start no longer counts at `at`. One that is exactly a window old does not.
    const fn left(&self, batch: &Batch, at: Timestamp) -> bool {
        at.micros_since(batch.at) >= self.window.as_micros()
    }

    /// Forgets starts of the oldest batch: all of them, or only `starts`.
    fn drop_oldest(&mut self, starts: u32) {
        if let Some(oldest) = self.batches.front_mut() {
            let dropped = oldest.starts.min(starts);
            oldest.starts -= dropped;
            self.starts -= dropped;
            if oldest.starts == 0 {
                self.batches.pop_front();
            }
        }
    }
}

/// A stored log: gaps are shorter than instants, and cannot be out of order.
#[derive(Serialize, Deserialize)]
struct StoredLog {
    window: Window,
    since: Timestamp,
    /// Microseconds since the batch before, and the starts of this one.
    batches: Vec<(u64, u32)>,
}

impl From<Log> for StoredLog {
    fn from(log: Log) -> Self {
        let since = log
            .batches
            .front()
            .map_or(Timestamp::EPOCH, |oldest| oldest.at);
        let mut before = since;
        let batches = log.batches.into_iter().map(|batch| {
            let gap = batch.at.micros_since(before);
            before = batch.at;
            (gap, batch.starts)
        });
        Self {
            window: log.window,
            since,
            batches: batches.collect(),
        }
    }
}

impl From<StoredLog> for Log {
    /// Whatever was stored, the result keeps to the window and to the largest count.
    fn from(stored: StoredLog) -> Self {
        let mut log = Self::new(stored.window);
        let mut at = stored.since;
        for (gap, starts) in stored.batches {
            at = at.plus_micros(gap);
            log.record(Batch { at, starts });
        }
        log
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(at: i64, starts: u32) -> Batch {
        Batch {
            at: Timestamp::from_secs(at),
            starts,
        }
    }

    fn log_of(starts: &[Batch]) -> Log {
        let mut log = Log::new(Window::from_seconds(60).unwrap());
        for &batch in starts {
            log.record(batch);
        }
        log
    }

    /// R62: a start counts up to its last microsecond in the window.
    #[test]
    fn a_start_exactly_one_window_old_no_longer_counts() {
        let log = log_of(&[seconds(0, 2), seconds(1, 3)]);
        let end = Timestamp::from_secs(60);
        assert_eq!(log.used(end.minus_micros(1)), 5);
        assert_eq!(log.used(end), 3);
        assert_eq!(log.falls_to(3, end.minus_micros(1)), end);
    }

    /// S15: the wait follows from the start that has to leave, not from the oldest.
    #[test]
    fn the_wait_is_for_as_many_starts_as_are_too_many() {
        let log = log_of(&[seconds(0, 2), seconds(10, 3), seconds(20, 1)]);
        let from = |at, tolerable| log.falls_to(tolerable, Timestamp::from_secs(at));
        assert_eq!(from(30, 5), Timestamp::from_secs(60));
        assert_eq!(from(30, 4), Timestamp::from_secs(60));
        assert_eq!(from(30, 3), Timestamp::from_secs(70));
        assert_eq!(from(30, 0), Timestamp::from_secs(80));
        assert_eq!(from(65, 1), Timestamp::from_secs(70), "the oldest are gone");
    }

    /// R62: no more than the largest count is kept; the oldest starts go first, also out of the middle of a batch.
    #[test]
    fn at_most_the_largest_count_is_kept() {
        let mut log = log_of(&[seconds(0, 4_000), seconds(1, 4_000), seconds(2, 4_000)]);
        let kept = [seconds(0, 2_000), seconds(1, 4_000), seconds(2, 4_000)];
        assert_eq!(log.known(), kept);
        log.record(seconds(2, 1));
        let kept = [seconds(0, 1_999), seconds(1, 4_000), seconds(2, 4_001)];
        assert_eq!(log.known(), kept, "one batch for one instant");
        log.record(seconds(3, 7_000));
        assert_eq!(log.known(), [seconds(2, 3_000), seconds(3, 7_000)]);
        log.record(seconds(4, u32::MAX));
        assert_eq!(log.known(), [seconds(4, 10_000)]);
        assert_eq!(log.used(Timestamp::from_secs(4)), 10_000);
    }

    /// R62: what has left the window is not kept.
    #[test]
    fn a_start_drops_what_has_left_the_window() {
        let log = log_of(&[seconds(0, 1), seconds(1, 2), seconds(60, 3)]);
        assert_eq!(log.known(), [seconds(1, 2), seconds(60, 3)]);
        assert_eq!(log.starts, 5);
    }

    /// R16: windows reach over the ends of time without overflow.
    #[test]
    fn the_ends_of_time_saturate() {
        let first = Timestamp::MIN;
        let log = log_of(&[Batch {
            at: first,
            starts: 1,
        }]);
        assert_eq!(log.used(first.plus_micros(59_999_999)), 1);
        assert_eq!(log.used(first.plus_micros(60_000_000)), 0);
        let last = Timestamp::MAX;
        let log = log_of(&[Batch {
            at: last,
            starts: 1,
        }]);
        assert_eq!((log.used(last), log.falls_to(0, last)), (1, last));
    }

    /// R19: a log decodes to what was stored, and to something harmless when that is nonsense.
    #[test]
    fn stored_logs_are_compact_and_checked() {
        let log = log_of(&[seconds(-5, 1), seconds(0, 2), seconds(54, 3)]);
        let stored = serde_json::to_string(&log).unwrap();
        let expected =
            r#"{"window":60000000,"since":-5000000,"batches":[[0,1],[5000000,2],[54000000,3]]}"#;
        assert_eq!(stored, expected);
        assert_eq!(serde_json::from_str::<Log>(&stored).unwrap(), log);

        let max = u64::MAX;
        let odd = format!(
            r#"{{"window":1000,"since":0,"batches":[[5,4294967295],[0,4294967295],[{max},0],[{max},7]]}}"#
        );
        let odd: Log = serde_json::from_str(&odd).unwrap();
        let at = Timestamp::MAX;
        assert_eq!(odd.known(), [Batch { at, starts: 7 }]);
        assert!(
            serde_json::from_str::<Log>(r#"{"window":1000,"since":0,"batches":[[-1,1]]}"#).is_err()
        );
        assert!(serde_json::from_str::<Log>(r#"{"window":1,"since":0,"batches":[]}"#).is_err());
    }
}
