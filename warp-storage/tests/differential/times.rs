//! What a clock shows next.

use std::time::Duration;

use warp_policy::Timestamp;

use crate::random::Random;

/// Often just when something is due; now and then one microsecond before or after, hours or a week later, or earlier (R49, R66).
pub(crate) fn another_time(
    random: &mut Random,
    now: Timestamp,
    next_at: Option<Timestamp>,
) -> Timestamp {
    let tick = Duration::from_micros(1);
    let due = next_at.unwrap_or(now).max(now);
    let minutes = |number: usize| Duration::from_secs(60 * number as u64);
    match random.below(24) {
        0..7 => due,
        7 => due.plus(tick),
        8 => due.minus(tick),
        9..12 => now.plus(Duration::from_micros(random.below(1_000) as u64)),
        12..18 => now.plus(random.millis(3_000)),
        18..20 => now.plus(random.millis(60_000)),
        20 => now.plus(minutes(random.below(300))),
        21 if random.one_in(8) => now.plus(minutes(8 * 24 * 60)),
        22 if random.one_in(2) => now.minus(random.millis(100_000)),
        23 if random.one_in(10) => now.minus(minutes(random.below(300))),
        _ => now.minus(random.millis(1_000)),
    }
}
