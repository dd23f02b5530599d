//! Chance in what is done regularly, so that many processes that began together do not go on doing it together.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// About so long: a fifth more or less at most.
pub(super) fn about(duration: Duration) -> Duration {
    // The standard library's own source of chance is that for the keys of its maps.
    let chance = RandomState::new().hash_one(());
    between_four_and_six_fifths(duration, chance)
}

fn between_four_and_six_fifths(duration: Duration, chance: u64) -> Duration {
    let thousandths = 800 + u32::try_from(chance % 401).unwrap_or(0);
    (duration / 1000).saturating_mul(thousandths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_are_four_and_six_fifths() {
        let second = Duration::from_secs(1);
        let shortest = between_four_and_six_fifths(second, 0);
        let longest = between_four_and_six_fifths(second, 400);
        assert_eq!(shortest, Duration::from_millis(800));
        assert_eq!(longest, Duration::from_millis(1200));
    }

    /// A hundred looks are spread over the whole range.
    #[test]
    fn nobody_keeps_step() {
        let mut looks: Vec<Duration> = (0..100).map(|_| about(Duration::from_secs(1))).collect();
        looks.sort_unstable();
        assert!(looks[0] < Duration::from_millis(900), "{looks:?}");
        assert!(looks[99] > Duration::from_millis(1100), "{looks:?}");
        looks.dedup();
        assert!(looks.len() > 50, "{looks:?}");
    }
}
