//! Which jobs, keys and sizes a seed lives with.

use std::sync::Arc;

use warp_policy::admission::{Control, Demand, Family, KeyId, Pause, Route, SizeOverride};
use warp_policy::{Style, Window};

use super::rng::Rng;
use crate::words::{rate, rate_key, skipping, slot_key, slots};

pub(super) const QUEUES: [&str; 2] = ["fast", "slow"];
pub(super) const KINDS: [&str; 4] = ["a", "b", "c", "d"];

/// What a seed is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Profile {
    Mixed,
    Rates,
    SeveralKeys,
    LongLines,
}

impl Profile {
    pub(super) fn burst(self, rng: &mut Rng) -> u64 {
        match self {
            Self::LongLines => 1 + rng.below(16),
            _ => 1 + rng.below(4),
        }
    }

    pub(super) fn capacity(self, rng: &mut Rng) -> usize {
        match self {
            Self::LongLines => rng.pick(&[2, 50, 300]),
            _ => rng.pick(&[1, 2, 4, 8]),
        }
    }

    pub(super) fn demands(self, rng: &mut Rng) -> Arc<[Demand]> {
        let demands = match self {
            Self::LongLines if rng.percent(80) => long_line(rng),
            _ => {
                let (slot, rates) = match self {
                    Self::Rates => (20, rng.pick(&[1, 1, 2])),
                    Self::SeveralKeys => (95, rng.pick(&[1, 1, 2])),
                    _ => (60, rng.pick(&[0, 0, 1, 2])),
                };
                let mut demands = Vec::new();
                if rng.percent(slot) {
                    demands.push(slots(rng.pick(&SLOT_KEYS), rng.pick(&[1, 1, 2, 3, 5])));
                }
                let first = rng.index(RATE_KEYS.len());
                for offset in 0..rates {
                    demands.push(any_rate(rng, RATE_KEYS[(first + offset) % RATE_KEYS.len()]));
                }
                demands
            }
        };
        demands
            .into_iter()
            .map(|demand| {
                if rng.percent(15) {
                    skipping(demand)
                } else {
                    demand
                }
            })
            .collect()
    }
}

const SLOT_KEYS: [&str; 3] = ["x", "y", "z"];
const RATE_KEYS: [&str; 3] = ["r", "s", "t"];

/// Mostly one size per key, sometimes another style or window (R33).
fn any_rate(rng: &mut Rng, key: &str) -> Demand {
    let usual = match key {
        "r" => (Style::Fixed, 300),
        "s" => (Style::Sliding, 1_000),
        _ => (Style::TokenBucket, 700),
    };
    let (style, millis) = if rng.percent(85) {
        usual
    } else {
        (rng.pick(&Style::ALL), rng.pick(&[100, 700, 2_500]))
    };
    rate(key, style, rng.pick(&[1, 2, 2, 3, 4]), millis)
}

/// A key of its own beside one that all share.
fn long_line(rng: &mut Rng) -> Vec<Demand> {
    let tenant = format!("tenant {}", rng.below(150));
    match rng.below(8) {
        0 => vec![slots("x", 100), rate(&tenant, Style::Sliding, 1, 500)],
        1 => vec![slots("x", 3), rate(&tenant, Style::Sliding, 1, 500)],
        2 => vec![slots(&tenant, 1), rate("r", Style::Fixed, 2, 300)],
        _ => vec![slots(&tenant, 1), rate("r", Style::Fixed, 120, 3_000)],
    }
}

pub(super) fn any_route(rng: &mut Rng) -> Route {
    Route::new(rng.pick(&QUEUES), rng.pick(&KINDS))
}

pub(super) fn any_priority(rng: &mut Rng) -> i32 {
    rng.pick(&[-1, 0, 0, 0, 0, 1, 2])
}

pub(super) fn any_key(rng: &mut Rng) -> KeyId {
    if rng.percent(50) {
        slot_key(rng.pick(&SLOT_KEYS))
    } else {
        rate_key(rng.pick(&RATE_KEYS))
    }
}

pub(super) fn any_control(rng: &mut Rng, key: &KeyId) -> Control {
    let size = match key.family {
        _ if rng.percent(50) => None,
        Family::Concurrency => Some(SizeOverride::Limit(rng.pick(&[1, 2, 4]))),
        _ => Some(SizeOverride::Rate {
            count: rng.pick(&[1, 2, 5]),
            window: Window::try_from(rng.pick(&[200_000, 1_000_000])).expect("a legal window"),
        }),
    };
    let pause = rng.pick(&[None, None, None, Some(Pause::Skip), Some(Pause::Hold)]);
    Control { size, pause }
}
