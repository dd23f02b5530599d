//! Chance in what is done regularly, so that many processes that began together do not go on doing it together.

use std::time::Duration;

/// About so long: a fifth more or less at most.
pub(super) fn about(duration: Duration) -> Duration {
    duration.mul_f64(0.8 + 0.4 * fastrand::f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thousand looks are spread over the whole range, and none is outside of it.
    #[test]
    fn nobody_keeps_step() {
        let mut looks: Vec<Duration> = (0..1000).map(|_| about(Duration::from_secs(1))).collect();
        looks.sort_unstable();
        let (shortest, longest) = (looks[0], looks[999]);
        let millis = Duration::from_millis;
        assert!(
            (millis(800)..millis(810)).contains(&shortest),
            "{shortest:?}"
        );
        assert!(
            (millis(1190)..=millis(1200)).contains(&longest),
            "{longest:?}"
        );
        looks.dedup();
        assert!(looks.len() > 900, "{looks:?}");
    }
}
