//! `#[rate_limit]`: how many jobs of a key start per window (R60–R68).

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::concurrency::check_size;
use crate::error::PolicyError;
use crate::key::Key;
use crate::mode::Mode;

/// The longest window: 7 days, in seconds (R16).
pub const MAX_WINDOW_SECONDS: u64 = 604_800;
/// The largest `count` of the style `sliding`, which keeps every instant (R16).
pub const MAX_SLIDING_COUNT: u32 = 10_000;
/// The most rate limits that one job can carry.
pub const MAX_RATE_LIMITS: usize = 8;

const MICROS_PER_MILLI: u64 = 1_000;

/// At most `count` starts of `key` per window, in the sense of its [`Style`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct RateLimitSpec {
    key: Key,
    count: u32,
    #[serde(rename = "window_micros")]
    window: Window,
    mode: Mode,
    style: Style,
}

impl RateLimitSpec {
    /// `count` starts per `window` in the defaults of R60: [`Mode::Skip`], [`Style::Fixed`].
    ///
    /// # Errors
    /// [`PolicyError::TooSmall`] for a `count` of 0.
    pub fn new(key: Key, count: u32, window: Window) -> Result<Self, PolicyError> {
        let count = check_count(i128::from(count), Style::Fixed)?;
        Ok(Self {
            key,
            count,
            window,
            mode: Mode::Skip,
            style: Style::Fixed,
        })
    }

    /// The same policy in another mode.
    #[must_use]
    pub fn with_mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// The same policy in another style.
    ///
    /// # Errors
    /// [`PolicyError::SlidingCountTooLarge`] where the count is above [`MAX_SLIDING_COUNT`].
    pub fn with_style(self, style: Style) -> Result<Self, PolicyError> {
        let count = check_count(i128::from(self.count), style)?;
        Ok(Self {
            count,
            style,
            ..self
        })
    }

    /// The key whose starts are counted.
    pub const fn key(&self) -> &Key {
        &self.key
    }

    /// Starts per window, from 1.
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// The window.
    pub const fn window(&self) -> Window {
        self.window
    }

    /// What happens to a job that finds no token.
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// How starts are counted.
    pub const fn style(&self) -> Style {
        self.style
    }
}

/// How the starts of a rate limit are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "a fourth style changes stored states, hence a breaking change"
)]
pub enum Style {
    /// Windows are floor-aligned to the Unix epoch, with at most `count` starts in each (R61). Up to twice `count` across a boundary.
    Fixed,
    /// At most `count` starts in any interval `(t − window, t]` (R62).
    Sliding,
    /// Capacity `count`, refilled continuously at `count` per window, full at first (R63).
    TokenBucket,
}

impl Style {
    /// Every style, in the order in which messages list them.
    pub const ALL: [Self; 3] = [Self::Fixed, Self::Sliding, Self::TokenBucket];

    /// The spelling in attributes, tables and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Sliding => "sliding",
            Self::TokenBucket => "token_bucket",
        }
    }

    /// The style spelt `text`.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|style| style.as_str() == text)
    }
}

impl fmt::Display for Style {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The window of a rate limit: a whole number of milliseconds from 1 ms to 7 days (R16).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Window(u64);

impl Window {
    /// A window of whole seconds, as `per_seconds` gives it.
    ///
    /// # Errors
    /// [`PolicyError::WindowTooSmall`], [`PolicyError::WindowTooLarge`].
    pub fn from_seconds(seconds: i128) -> Result<Self, PolicyError> {
        let argument = "per_seconds";
        match u64::try_from(seconds) {
            Err(_) if seconds > 0 => Err(PolicyError::WindowTooLarge { argument }),
            Err(_) => Err(PolicyError::WindowTooSmall { argument }),
            Ok(seconds) => Self::check(argument, Duration::from_secs(seconds)),
        }
    }

    /// A window as `per` or an explicit parameter gives it.
    ///
    /// # Errors
    /// [`PolicyError::WindowTooSmall`], [`PolicyError::WindowTooLarge`], [`PolicyError::WindowTooFine`].
    pub fn from_duration(window: Duration) -> Result<Self, PolicyError> {
        Self::check("per", window)
    }

    fn check(argument: &'static str, window: Duration) -> Result<Self, PolicyError> {
        if window.is_zero() {
            return Err(PolicyError::WindowTooSmall { argument });
        }
        if window > Duration::from_secs(MAX_WINDOW_SECONDS) {
            return Err(PolicyError::WindowTooLarge { argument });
        }
        if !window.subsec_nanos().is_multiple_of(1_000_000) {
            return Err(PolicyError::WindowTooFine { argument });
        }
        let millis = window.as_secs() * 1_000 + u64::from(window.subsec_millis());
        Ok(Self(millis * MICROS_PER_MILLI))
    }

    /// The window in microseconds.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// The window as a duration.
    pub const fn as_duration(self) -> Duration {
        Duration::from_micros(self.0)
    }
}

impl TryFrom<u64> for Window {
    type Error = PolicyError;

    /// A stored window, in microseconds.
    fn try_from(micros: u64) -> Result<Self, PolicyError> {
        Self::from_duration(Duration::from_micros(micros))
    }
}

impl From<Window> for u64 {
    fn from(window: Window) -> Self {
        window.as_micros()
    }
}

/// Holds a `count` to its caps: 1 to `u32::MAX`, and to [`MAX_SLIDING_COUNT`] where the style is `sliding` (R16).
///
/// # Errors
/// [`PolicyError::TooSmall`], [`PolicyError::TooLarge`], [`PolicyError::SlidingCountTooLarge`].
pub fn check_count(count: i128, style: Style) -> Result<u32, PolicyError> {
    let count = check_size("count", count)?;
    if style == Style::Sliding && count > MAX_SLIDING_COUNT {
        return Err(PolicyError::SlidingCountTooLarge);
    }
    Ok(count)
}

/// Refuses two rate limits of one key, and more than [`MAX_RATE_LIMITS`] (R15).
///
/// # Errors
/// [`PolicyError::RateLimitTwice`], [`PolicyError::TooManyRateLimits`].
pub fn check_stack<'a>(keys: impl IntoIterator<Item = &'a str>) -> Result<(), PolicyError> {
    let mut seen = std::collections::BTreeSet::new();
    for key in keys {
        if !seen.insert(key) {
            return Err(PolicyError::RateLimitTwice {
                key: key.to_owned(),
            });
        }
    }
    if seen.len() > MAX_RATE_LIMITS {
        return Err(PolicyError::TooManyRateLimits);
    }
    Ok(())
}

/// A stored spec before its checks (R19).
#[derive(Deserialize)]
struct Unchecked {
    key: Key,
    count: u32,
    window_micros: Window,
    mode: Mode,
    style: Style,
}

impl TryFrom<Unchecked> for RateLimitSpec {
    type Error = PolicyError;

    fn try_from(stored: Unchecked) -> Result<Self, PolicyError> {
        Self::new(stored.key, stored.count, stored.window_micros)?
            .with_mode(stored.mode)
            .with_style(stored.style)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R16: the caps of `count`, with the lower one of `sliding`.
    #[test]
    fn count_is_held_to_its_caps() {
        assert_eq!(
            check_count(0, Style::Fixed),
            Err(PolicyError::TooSmall { argument: "count" })
        );
        assert_eq!(check_count(4_294_967_295, Style::TokenBucket), Ok(u32::MAX));
        assert_eq!(
            check_count(4_294_967_296, Style::TokenBucket),
            Err(PolicyError::TooLarge { argument: "count" })
        );
        assert_eq!(check_count(10_000, Style::Sliding), Ok(10_000));
        assert_eq!(
            check_count(10_001, Style::Sliding),
            Err(PolicyError::SlidingCountTooLarge)
        );
    }

    /// R16: windows reach from 1 ms to 7 days, in whole milliseconds.
    #[test]
    fn window_is_held_to_its_caps() {
        let per = |window| Window::from_duration(window).map(Window::as_micros);
        assert_eq!(
            per(Duration::ZERO),
            Err(PolicyError::WindowTooSmall { argument: "per" })
        );
        assert_eq!(
            per(Duration::from_micros(999)),
            Err(PolicyError::WindowTooFine { argument: "per" })
        );
        assert_eq!(per(Duration::from_millis(1)), Ok(1_000));
        assert_eq!(per(Duration::from_secs(604_800)), Ok(604_800_000_000));
        assert_eq!(
            per(Duration::from_millis(604_800_001)),
            Err(PolicyError::WindowTooLarge { argument: "per" })
        );
        assert_eq!(
            Window::from_seconds(-1),
            Err(PolicyError::WindowTooSmall {
                argument: "per_seconds"
            })
        );
        assert_eq!(
            Window::from_seconds(0),
            Err(PolicyError::WindowTooSmall {
                argument: "per_seconds"
            })
        );
        assert_eq!(
            Window::from_seconds(604_801),
            Err(PolicyError::WindowTooLarge {
                argument: "per_seconds"
            })
        );
        assert_eq!(
            Window::from_seconds(i128::MAX),
            Err(PolicyError::WindowTooLarge {
                argument: "per_seconds"
            })
        );
    }

    /// R15: different keys stack, one key twice does not.
    #[test]
    fn rate_limits_stack_by_key() {
        assert_eq!(check_stack(["a", "b"]), Ok(()));
        assert_eq!(
            check_stack(["a", "b", "a"]),
            Err(PolicyError::RateLimitTwice { key: "a".into() })
        );
        assert_eq!(
            check_stack(["1", "2", "3", "4", "5", "6", "7", "8"]),
            Ok(())
        );
        assert_eq!(
            check_stack(["1", "2", "3", "4", "5", "6", "7", "8", "9"]),
            Err(PolicyError::TooManyRateLimits)
        );
    }

    /// R19: stored rows pass the same checks.
    #[test]
    fn a_stored_window_above_the_cap_is_refused() {
        let stored =
            r#"{"key":"k","count":1,"window_micros":604800000001,"mode":"wait","style":"fixed"}"#;
        assert!(serde_json::from_str::<RateLimitSpec>(stored).is_err());
    }
}
