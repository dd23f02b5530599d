//! Limiter arithmetic: what is remembered of a key's starts, and what it still admits (R49, R53, R60–R68).
//!
//! Everything here is a function of a state, an instant and a size. The instants come from the caller, who reads the database's clock
//! once per admission and never judges before [`RateState::last_start`].
//!
//! A key has one counter per style and window in use (and per count, for the style `token_bucket`), and every start is booked in all
//! of them (R33). Each counter also knows the latest instants at which its starts can have happened, so that a counter for a new
//! policy begins with them instead of empty (R67).

mod batch;
mod counter;
mod known;
mod size;
mod sliding;
mod slots;
mod tally;
mod token_bucket;

use serde::{Deserialize, Serialize};

use self::batch::Batch;
use self::counter::Counter;
use self::known::known_starts;
pub use self::size::RateSize;
pub use self::slots::free_slots;
use crate::rate_limit::MAX_WINDOW_SECONDS;
use crate::time::{MICROS_PER_SECOND, Timestamp};

/// How far the clock may lie behind the last start and still count as the same clock (R49).
const CLOCK_TOLERANCE_MICROS: u64 = MICROS_PER_SECOND;

/// Until then a start can count under some permitted size (R68).
const LONGEST_WINDOW_MICROS: u64 = MAX_WINDOW_SECONDS * MICROS_PER_SECOND;

/// The most counters of one key. The one that was judged by longest ago gives way to a new one; were it needed again, it would begin
/// with what the others know. Only an override that changes a token bucket's count over and over gets here.
const MAX_COUNTERS: usize = 32;

/// Everything remembered about the starts of one rate-limit key.
///
/// The default is a key that never started anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateState {
    /// The most recently judged by come first. All of them know the same last start.
    counters: Vec<Counter>,
}

impl RateState {
    /// The last start that is booked here.
    pub fn last_start(&self) -> Option<Timestamp> {
        self.counters.iter().filter_map(Counter::last_start).max()
    }

    /// Makes the state fit the clock, before anything is judged; tells whether anything changed (R49, R66).
    ///
    /// A last start more than one second ahead of `now` means that the clock went back. All known starts are then moved to `now`,
    /// where they count for one window more: no token is given twice, and nobody is delayed by more than that window.
    pub fn settle(&mut self, now: Timestamp) -> bool {
        let went_back = self
            .last_start()
            .is_some_and(|last| last.micros_since(now) > CLOCK_TOLERANCE_MICROS);
        if went_back {
            for counter in &mut self.counters {
                counter.settle(now);
            }
        }
        went_back
    }

    /// How many more starts `size` admits at `at`. An instant before the last start is judged as the last start.
    pub fn available(&self, size: RateSize, at: Timestamp) -> u32 {
        size.capacity().saturating_sub(self.used(size, at))
    }

    /// How many starts count against `size` at `at`; more than its count where the limit was lowered. For a token bucket, the tokens
    /// that are not back yet.
    pub fn used(&self, size: RateSize, at: Timestamp) -> u32 {
        let at = self.not_before_last(at);
        match self.counter(size) {
            Some(counter) => counter.used(at),
            None => self.seeded(size).used(at),
        }
    }

    /// The first instant from `at` on when `size` admits `tokens` starts at once, if nothing starts before; `None` if it never does.
    pub fn available_at(&self, size: RateSize, tokens: u32, at: Timestamp) -> Option<Timestamp> {
        let tolerable = size.capacity().checked_sub(tokens)?;
        if self.used(size, at) <= tolerable {
            return Some(at);
        }
        let at = self.not_before_last(at);
        Some(match self.counter(size) {
            Some(counter) => counter.falls_to(tolerable, at),
            None => self.seeded(size).falls_to(tolerable, at),
        })
    }

    /// Books one start that was judged by `size`, in every counter of the key (R33).
    pub fn book(&mut self, size: RateSize, at: Timestamp) {
        let at = self.not_before_last(at);
        match self.counters.iter().position(|known| known.is_for(size)) {
            Some(index) => self.counters[..=index].rotate_right(1),
            None => self.counters.insert(0, self.seeded(size)),
        }
        self.counters.truncate(MAX_COUNTERS);
        for counter in &mut self.counters {
            counter.record(Batch { at, starts: 1 });
        }
    }

    /// Forgets everything where a fresh state would give the same answers, to every permitted size (R68).
    ///
    /// That is so once the last start is older than the longest window. Going by the windows in use would forget too early: starts of
    /// a one-minute policy still count after its replacement by an hourly one (R67), which has no counter before its first start.
    pub fn prune(&mut self, now: Timestamp) {
        // A clock that goes back within its tolerance must not find them missing.
        let now = now.minus_micros(CLOCK_TOLERANCE_MICROS);
        let counts = |last| now.micros_since(last) < LONGEST_WINDOW_MICROS;
        if !self.last_start().is_some_and(counts) {
            self.counters.clear();
        }
    }

    /// Whether nothing is remembered, so that the stored state can go.
    pub fn is_fresh(&self) -> bool {
        self.counters.is_empty()
    }

    fn not_before_last(&self, at: Timestamp) -> Timestamp {
        self.last_start().map_or(at, |last| last.max(at))
    }

    fn counter(&self, size: RateSize) -> Option<&Counter> {
        self.counters.iter().find(|counter| counter.is_for(size))
    }

    /// A counter for a size that has none yet (R67).
    fn seeded(&self, size: RateSize) -> Counter {
        let mut counter = Counter::new(size);
        for batch in known_starts(&self.counters) {
            counter.record(batch);
        }
        counter
    }
}

#[cfg(test)]
mod tests;
