//! The size of a rate limit, apart from its key and mode.

use serde::{Deserialize, Serialize};

use crate::error::PolicyError;
use crate::rate_limit::{MAX_SLIDING_COUNT, RateLimitSpec, Style, Window, check_count};

/// The size by which a rate limit is judged: an override's, else the job's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
#[expect(
    clippy::exhaustive_structs,
    reason = "an override puts its count and window beside the job's style; a fourth part changes stored states"
)]
pub struct RateSize {
    /// How starts are counted.
    pub style: Style,
    /// Starts per window.
    pub count: u32,
    /// The window.
    #[serde(rename = "window_micros")]
    pub window: Window,
}

impl RateSize {
    /// The most starts that can ever be available. A sliding log proves no more than [`MAX_SLIDING_COUNT`], whatever `count` says.
    pub(super) fn capacity(self) -> u32 {
        match self.style {
            Style::Sliding => self.count.min(MAX_SLIDING_COUNT),
            Style::Fixed | Style::TokenBucket => self.count,
        }
    }
}

impl From<&RateLimitSpec> for RateSize {
    fn from(spec: &RateLimitSpec) -> Self {
        Self {
            style: spec.style(),
            count: spec.count(),
            window: spec.window(),
        }
    }
}

/// A stored size before its checks (R19).
#[derive(Deserialize)]
struct Unchecked {
    style: Style,
    count: u32,
    window_micros: Window,
}

impl TryFrom<Unchecked> for RateSize {
    type Error = PolicyError;

    fn try_from(stored: Unchecked) -> Result<Self, PolicyError> {
        Ok(Self {
            style: stored.style,
            count: check_count(i128::from(stored.count), stored.style)?,
            window: stored.window_micros,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;

    /// R100: a size has everything of a spec that an override could replace, and the style that it could not.
    #[test]
    fn a_size_is_a_spec_without_key_and_mode() {
        let window = Window::from_seconds(60).unwrap();
        let spec = RateLimitSpec::new(Key::new("k").unwrap(), 7, window)
            .and_then(|spec| spec.with_style(Style::Sliding))
            .unwrap();
        let expected = RateSize {
            style: Style::Sliding,
            count: 7,
            window,
        };
        assert_eq!(RateSize::from(&spec), expected);
    }

    /// R19: stored rows pass the same checks.
    #[test]
    fn a_stored_size_is_held_to_the_caps() {
        let decode = |style: &str, count: u32| {
            let stored = format!(r#"{{"style":"{style}","count":{count},"window_micros":1000}}"#);
            serde_json::from_str::<RateSize>(&stored)
        };
        assert!(decode("sliding", 10_000).is_ok());
        assert!(decode("sliding", 10_001).is_err());
        assert!(decode("fixed", 0).is_err());
    }
}
