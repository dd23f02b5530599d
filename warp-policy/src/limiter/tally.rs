//! Starts per aligned window: the style `fixed`, and what a token bucket remembers of single starts.

use serde::{Deserialize, Serialize};

use super::batch::Batch;
use crate::rate_limit::Window;
use crate::time::Timestamp;

/// The starts of the last two windows that had any. Windows are floor-aligned to the Unix epoch (R61), also before it.
///
/// Of each window only the last start's instant is kept; it also tells which window that is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tally {
    window: Window,
    current: Option<Batch>,
    previous: Option<Batch>,
}

impl Tally {
    pub(super) const fn new(window: Window) -> Self {
        Self {
            window,
            current: None,
            previous: None,
        }
    }

    pub(super) const fn window(&self) -> Window {
        self.window
    }

    pub(super) fn last_start(&self) -> Option<Timestamp> {
        // The later of the two, also where somebody else stored them the wrong way round.
        self.batches().map(|batch| batch.at).max()
    }

    /// How many starts the window of `at` has had, where `at` is not before the last start.
    pub(super) fn starts_in_window_of(&self, at: Timestamp) -> u32 {
        match self.current {
            Some(current) if self.index(current.at) == self.index(at) => current.starts,
            _ => 0,
        }
    }

    pub(super) fn end_of_window_of(&self, at: Timestamp) -> Timestamp {
        let end = (self.index(at) + 1) * i128::from(self.window.as_micros());
        i64::try_from(end).map_or(Timestamp::MAX, Timestamp::from_micros)
    }

    pub(super) fn record(&mut self, batch: Batch) {
        let in_window = self.starts_in_window_of(batch.at);
        if in_window == 0 {
            self.previous = self.current;
        }
        self.current = Some(Batch {
            at: batch.at,
            starts: in_window.saturating_add(batch.starts),
        });
    }

    pub(super) fn settle(&mut self, now: Timestamp) {
        let starts = self.batches().map(|batch| batch.starts);
        let starts = starts.reduce(u32::saturating_add);
        self.current = starts.map(|starts| Batch { at: now, starts });
        self.previous = None;
    }

    pub(super) fn known(&self) -> Vec<Batch> {
        self.batches().collect()
    }

    fn batches(&self) -> impl Iterator<Item = Batch> + use<> {
        self.previous.into_iter().chain(self.current)
    }

    fn index(&self, at: Timestamp) -> i128 {
        i128::from(at.as_micros()).div_euclid(i128::from(self.window.as_micros()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(at: i64, starts: u32) -> Batch {
        Batch {
            at: Timestamp::from_micros(at * 1_000),
            starts,
        }
    }

    fn tally_of(starts: &[Batch]) -> Tally {
        let mut tally = Tally::new(Window::try_from(10_000).unwrap());
        for &batch in starts {
            tally.record(batch);
        }
        tally
    }

    /// R61: a window holds its first microsecond and not the one after its last, on both sides of the epoch.
    #[test]
    fn windows_are_aligned_to_the_epoch_and_half_open() {
        for (start, first, after) in [(25, 20, 30), (-25, -30, -20), (-1, -10, 0), (-10, -10, 0)] {
            let tally = tally_of(&[millis(start, 4)]);
            let end = millis(after, 0).at;
            assert_eq!(tally.end_of_window_of(millis(first, 0).at), end);
            assert_eq!(tally.end_of_window_of(end.minus_micros(1)), end);
            assert_eq!(tally.starts_in_window_of(end.minus_micros(1)), 4);
            assert_eq!(tally.starts_in_window_of(end), 0);
        }
    }

    /// R67: the last two windows with starts are known, each at its last start, however far apart they are.
    #[test]
    fn two_windows_are_remembered() {
        let tally = tally_of(&[millis(1, 9), millis(12, 1), millis(19, 2), millis(55, 3)]);
        assert_eq!(tally.known(), [millis(19, 3), millis(55, 3)]);
    }

    /// R49: everything known is moved, so that no window's tokens are given twice.
    #[test]
    fn settling_moves_both_windows() {
        let mut tally = tally_of(&[millis(19, 2), millis(25, 3)]);
        tally.settle(millis(14, 0).at);
        assert_eq!(tally.known(), [millis(14, 5)]);
        assert_eq!(tally.starts_in_window_of(millis(14, 0).at), 5);
    }

    /// R19: no instant before a stored one is the last, whatever the order.
    #[test]
    fn a_tally_stored_the_wrong_way_round_has_its_later_start_last() {
        for (current, previous) in [("null", "[5,1]"), ("[3,1]", "[5,1]"), ("[5,1]", "[3,1]")] {
            let stored = format!(r#"{{"window":1000,"current":{current},"previous":{previous}}}"#);
            let tally: Tally = serde_json::from_str(&stored).unwrap();
            assert_eq!(tally.last_start(), Some(Timestamp::from_micros(5)));
        }
    }

    /// R16: neither the ends of time nor the largest numbers overflow.
    #[test]
    fn extremes_saturate() {
        for at in [Timestamp::MIN, Timestamp::MAX] {
            let mut tally = tally_of(&[]);
            let starts = u32::MAX;
            tally.record(Batch { at, starts });
            tally.record(Batch { at, starts });
            assert_eq!(tally.starts_in_window_of(at), u32::MAX);
            assert!(tally.end_of_window_of(at) >= at);
        }
        assert_eq!(
            tally_of(&[]).end_of_window_of(Timestamp::MAX),
            Timestamp::MAX
        );
    }
}
