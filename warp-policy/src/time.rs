//! Instants in integer microseconds.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Microseconds in one second.
pub const MICROS_PER_SECOND: u64 = 1_000_000;

/// An instant on the database's clock, in whole microseconds since the Unix epoch.
///
/// Arithmetic saturates at the ends of the range, which lie 292,000 years away; nothing overflows.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The Unix epoch.
    pub const EPOCH: Self = Self(0);
    /// The earliest instant.
    pub const MIN: Self = Self(i64::MIN);
    /// The latest instant.
    pub const MAX: Self = Self(i64::MAX);

    /// The instant `micros` microseconds after the Unix epoch (before it, if negative).
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// The instant `seconds` whole seconds after the Unix epoch.
    pub const fn from_secs(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1_000_000))
    }

    /// Microseconds since the Unix epoch.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// The instant `micros` later.
    #[must_use]
    pub const fn plus_micros(self, micros: u64) -> Self {
        Self(self.0.saturating_add_unsigned(micros))
    }

    /// The instant `micros` earlier.
    #[must_use]
    pub const fn minus_micros(self, micros: u64) -> Self {
        Self(self.0.saturating_sub_unsigned(micros))
    }

    /// The instant `duration` later; what is below a microsecond is cut off.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        self.plus_micros(duration_micros(duration))
    }

    /// The instant `duration` earlier; what is below a microsecond is cut off.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        self.minus_micros(duration_micros(duration))
    }

    /// Microseconds from `earlier` to this instant; zero if `earlier` is later.
    pub const fn micros_since(self, earlier: Self) -> u64 {
        if self.0 <= earlier.0 {
            0
        } else {
            self.0.abs_diff(earlier.0)
        }
    }

    /// The time from `earlier` to this instant; zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.micros_since(earlier))
    }
}

impl fmt::Display for Timestamp {
    /// Seconds since the Unix epoch with six decimals.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let micros = self.0.unsigned_abs();
        write!(
            f,
            "{sign}{}.{:06}",
            micros / MICROS_PER_SECOND,
            micros % MICROS_PER_SECOND
        )
    }
}

fn duration_micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates_at_the_ends_of_the_range() {
        assert_eq!(Timestamp::MAX.plus(Duration::MAX), Timestamp::MAX);
        assert_eq!(Timestamp::MIN.minus(Duration::MAX), Timestamp::MIN);
        assert_eq!(Timestamp::MAX.micros_since(Timestamp::MIN), u64::MAX);
        assert_eq!(Timestamp::EPOCH.micros_since(Timestamp::from_secs(1)), 0);
    }

    #[test]
    fn display_keeps_the_sign_of_a_fraction() {
        assert_eq!(Timestamp::from_micros(-1_500_000).to_string(), "-1.500000");
        assert_eq!(Timestamp::from_micros(-1).to_string(), "-0.000001");
        assert_eq!(Timestamp::from_micros(60_000_001).to_string(), "60.000001");
    }
}
