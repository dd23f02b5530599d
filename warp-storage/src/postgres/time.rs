//! Whose time it is: the database's (R66), or that of a test.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use warp_policy::Timestamp;

use crate::clock::{Clock, Sleep, SystemClock};

/// The time of a store. Every statement that needs an instant takes the one that a test's clock shows, or, where it is given none, reads
/// the database's own clock, and answers which one it took. So all workers go by one clock, however wrong those of their machines are.
#[derive(Clone, Debug)]
pub(super) struct Time {
    given: Option<Arc<dyn Clock>>,
    database: Arc<DatabaseClock>,
}

impl Time {
    pub(super) fn new(given: Option<Arc<dyn Clock>>) -> Self {
        Self {
            given,
            database: Arc::default(),
        }
    }

    /// The instant to give to a statement; none for the database's own.
    pub(super) fn given(&self) -> Option<i64> {
        self.given.as_ref().map(|clock| clock.now().as_micros())
    }

    /// The clock that workers sleep by.
    pub(super) fn clock(&self) -> Arc<dyn Clock> {
        match &self.given {
            Some(clock) => Arc::clone(clock),
            None => Arc::<DatabaseClock>::clone(&self.database) as _,
        }
    }

    /// Notes which instant a statement took that was sent at `sent`.
    pub(super) fn note(&self, sent: Timestamp, taken: Timestamp) {
        if self.given.is_none() {
            self.database.note(sent, taken, SystemClock.now());
        }
    }
}

/// The database's clock as this process knows it: that of the machine, set right by every answer. Nothing is decided by it; workers sleep
/// by it until an instant that the database gave them.
#[derive(Debug, Default)]
struct DatabaseClock {
    /// How far the database is ahead of this machine, in microseconds.
    ahead: AtomicI64,
}

impl DatabaseClock {
    /// The database read its clock at some moment between sending and receiving, so it is ahead by something between two bounds. What was
    /// known before is kept where it lies between them.
    fn note(&self, sent: Timestamp, taken: Timestamp, received: Timestamp) {
        let ahead_of = |local: Timestamp| taken.as_micros().saturating_sub(local.as_micros());
        let (least, most) = (ahead_of(received), ahead_of(sent));
        let ahead = self.ahead.load(Ordering::Relaxed);
        // Where the machine's clock went back in between, nothing is learned.
        if least <= most {
            self.ahead
                .store(ahead.clamp(least, most), Ordering::Relaxed);
        }
    }
}

impl Clock for DatabaseClock {
    fn now(&self) -> Timestamp {
        let ahead = self.ahead.load(Ordering::Relaxed);
        let local = SystemClock.now();
        Timestamp::from_micros(local.as_micros().saturating_add(ahead))
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        SystemClock.sleep(duration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R66: a machine an hour behind shows the database's time, as exactly as the answers were fast.
    #[test]
    fn every_answer_narrows_down_where_the_database_is() {
        let clock = DatabaseClock::default();
        let at = Timestamp::from_micros;
        clock.note(at(1_000), at(3_600_001_500), at(2_000));
        let first = clock.ahead.load(Ordering::Relaxed);
        assert!((3_599_999_500..=3_600_000_500).contains(&first), "{first}");
        clock.note(at(5_000), at(3_600_005_010), at(5_020));
        let second = clock.ahead.load(Ordering::Relaxed);
        assert!(
            (3_599_999_990..=3_600_000_010).contains(&second),
            "{second}"
        );
        clock.note(at(9_000), at(3_600_009_100), at(10_000));
        assert_eq!(
            clock.ahead.load(Ordering::Relaxed),
            second,
            "a slow answer says nothing new"
        );
    }

    #[test]
    fn a_machine_whose_clock_went_back_meanwhile_learns_nothing() {
        let clock = DatabaseClock::default();
        let at = Timestamp::from_micros;
        clock.note(at(9_000), at(9_000), at(1_000));
        assert_eq!(clock.ahead.load(Ordering::Relaxed), 0);
    }
}
