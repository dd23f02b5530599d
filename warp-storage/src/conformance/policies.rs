//! Policies in a word.

use std::error::Error;
use std::time::Duration;

use warp_policy::precedence::ExplicitPolicies;
use warp_policy::{ConcurrencySpec, Key, Mode, RateLimitSpec, Style, Window};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// No policy.
pub(super) fn free() -> ExplicitPolicies {
    ExplicitPolicies::default()
}

/// A mutex.
pub(super) fn mutex(key: &str, mode: Mode) -> Result<ExplicitPolicies> {
    semaphore(key, 1, mode)
}

/// A semaphore.
pub(super) fn semaphore(key: &str, limit: u32, mode: Mode) -> Result<ExplicitPolicies> {
    let spec = ConcurrencySpec::semaphore(Key::new(key)?, limit)?.with_mode(mode);
    Ok(ExplicitPolicies {
        concurrency: Some(spec),
        rate_limits: Vec::new(),
    })
}

/// A rate limit.
pub(super) fn rate(
    key: &str,
    count: u32,
    seconds: u64,
    style: Style,
    mode: Mode,
) -> Result<ExplicitPolicies> {
    let window = Window::from_duration(Duration::from_secs(seconds))?;
    let spec = RateLimitSpec::new(Key::new(key)?, count, window)?
        .with_mode(mode)
        .with_style(style)?;
    Ok(ExplicitPolicies {
        concurrency: None,
        rate_limits: vec![spec],
    })
}

/// Both.
pub(super) fn both(mut one: ExplicitPolicies, other: ExplicitPolicies) -> ExplicitPolicies {
    one.concurrency = one.concurrency.or(other.concurrency);
    one.rate_limits.extend(other.rate_limits);
    one
}

/// A mutex that is taken, beside [`token`], by jobs of two keys.
pub(super) fn slot() -> Result<ExplicitPolicies> {
    mutex("slot", Mode::Wait)
}

/// One start every ten seconds.
pub(super) fn token() -> Result<ExplicitPolicies> {
    rate("token", 1, 10, Style::Sliding, Mode::Wait)
}
