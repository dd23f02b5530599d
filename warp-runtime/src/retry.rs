//! How failed attempts are repeated.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};

/// How failed attempts are repeated: a worker-wide default, read live and never stamped (R23).
///
/// The delay doubles from attempt to attempt, from `first_delay` up to `max_delay`.
#[derive(Clone, Copy, Debug)]
pub struct Retry {
    max_attempts: u32,
    first_delay: Duration,
    max_delay: Duration,
}

impl Default for Retry {
    /// 3 attempts, 1 s apart at first, at most 1 h.
    fn default() -> Self {
        Self::attempts(3)
    }
}

impl Retry {
    /// So many attempts in all; 0 counts as 1, since a job that is started has one.
    pub const fn attempts(max_attempts: u32) -> Self {
        let max_attempts = if max_attempts == 0 { 1 } else { max_attempts };
        Self {
            max_attempts,
            first_delay: Duration::from_secs(1),
            max_delay: Duration::from_hours(1),
        }
    }

    /// Other delays: `first` after the first attempt, doubled after each one, never above `max`.
    #[must_use]
    pub const fn with_delays(self, first: Duration, max: Duration) -> Self {
        Self {
            first_delay: first,
            max_delay: max,
            ..self
        }
    }

    /// Attempts in all, from 1.
    pub const fn max_attempts(&self) -> u32 {
        self.max_attempts
    }

    /// How long to wait after attempt number `attempt` failed; `None` where it was the last.
    pub fn delay_after(&self, attempt: u32) -> Option<Duration> {
        if attempt >= self.max_attempts {
            return None;
        }
        let delays = ExponentialBuilder::new()
            .with_min_delay(self.first_delay)
            .with_max_delay(self.max_delay)
            .without_max_times();
        // Long before the 64th doubling the delay has reached its cap.
        let doublings = attempt.saturating_sub(1).min(64) as usize;
        delays
            .build()
            .nth(doublings)
            .map(|delay| delay.min(self.max_delay))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_doubles_up_to_its_cap_and_ends_with_the_last_attempt() {
        let retry = Retry::attempts(5).with_delays(Duration::from_secs(1), Duration::from_secs(5));
        let delays: Vec<_> = (1..=5)
            .map(|attempt| retry.delay_after(attempt).map(|d| d.as_secs()))
            .collect();
        assert_eq!(delays, [Some(1), Some(2), Some(4), Some(5), None]);
    }

    #[test]
    fn a_huge_attempt_number_does_not_overflow() {
        let retry = Retry::attempts(u32::MAX);
        assert_eq!(
            retry.delay_after(u32::MAX - 1),
            Some(Duration::from_hours(1))
        );
        assert_eq!(Retry::attempts(0).max_attempts(), 1);
    }
}
