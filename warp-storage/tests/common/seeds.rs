//! Which seeds to run.

use std::ops::Range;

/// As many seeds as a test runs by default, beginning with the first. `WARP_<NAME>_SEEDS` says how many instead, `WARP_<NAME>_FIRST` with
/// which one to begin.
pub(crate) fn seeds(name: &str, by_default: u64) -> Range<u64> {
    let from_env = |what| {
        std::env::var(format!("WARP_{name}_{what}"))
            .ok()
            .and_then(|text| text.parse::<u64>().ok())
    };
    let first = from_env("FIRST").unwrap_or(1);
    first..first + from_env("SEEDS").unwrap_or(by_default)
}
