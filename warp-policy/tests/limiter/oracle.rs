//! The rules in their simplest form, over a full list of starts, and the strategies that all properties share.

use proptest::prelude::*;
use warp_policy::limiter::RateSize;
use warp_policy::{Style, Timestamp, Window};

/// An instant or a length of time, in microseconds.
pub(crate) type Micros = i128;

pub(crate) fn window(size: RateSize) -> Micros {
    Micros::from(size.window.as_micros())
}

pub(crate) fn micros(at: Timestamp) -> Micros {
    Micros::from(at.as_micros())
}

pub(crate) fn timestamp(at: Micros) -> Timestamp {
    Timestamp::from_micros(i64::try_from(at).expect("within the range"))
}

/// How many of `starts` (in order, none after `at`) count against `size` at `at`.
pub(crate) fn used(size: RateSize, starts: &[Micros], at: Micros) -> u32 {
    let window = window(size);
    let counted = match size.style {
        Style::Fixed => {
            let same = |start: &&Micros| start.div_euclid(window) == at.div_euclid(window);
            starts.iter().filter(same).count()
        }
        Style::Sliding => starts.iter().filter(|&&start| start > at - window).count(),
        Style::TokenBucket => return size.count - tokens(size, starts, at),
    };
    u32::try_from(counted).expect("a short list")
}

/// The whole tokens of a bucket that started full: its level in `window × count`ths, saturating at empty and at full.
fn tokens(size: RateSize, starts: &[Micros], at: Micros) -> u32 {
    let full = window(size) * Micros::from(size.count);
    let mut level = full;
    let mut last = starts.first().copied().unwrap_or(at);
    for &start in starts {
        level = (level + (start - last) * Micros::from(size.count)).min(full);
        level = (level - window(size)).max(0);
        last = start;
    }
    level = (level + (at - last) * Micros::from(size.count)).min(full);
    u32::try_from(level.div_euclid(window(size))).expect("at most the count")
}

/// Which of `starts` a counter of `size` must still know: the index of the first.
pub(crate) fn first_known(size: RateSize, starts: &[Micros]) -> usize {
    let Some(&last) = starts.last() else { return 0 };
    let window = window(size);
    let is_known = |start: Micros| match size.style {
        Style::Sliding => start > last - window,
        Style::Fixed | Style::TokenBucket => {
            let current = last.div_euclid(window);
            let mut older = starts.iter().rev().map(|start| start.div_euclid(window));
            let previous = older.find(|&index| index < current).unwrap_or(current);
            start.div_euclid(window) >= previous
        }
    };
    let known = starts.iter().rev().take_while(|&&start| is_known(start));
    starts.len() - known.count()
}

pub(crate) fn any_size() -> impl Strategy<Value = RateSize> {
    let style = prop::sample::select(Style::ALL.to_vec());
    let count = prop_oneof![
        6 => 1_u32..8,
        2 => 8_u32..200,
        1 => Just(10_000),
        1 => Just(u32::MAX),
    ];
    let millis = prop_oneof![
        6 => 1_u64..12,
        2 => prop::sample::select(vec![1_000, 7_000, 60_000]),
        1 => Just(604_800_000),
    ];
    (style, count, millis).prop_map(|(style, count, millis)| RateSize {
        style,
        count: match style {
            Style::Sliding => count.min(10_000),
            Style::Fixed | Style::TokenBucket => count,
        },
        window: Window::try_from(millis * 1_000).expect("a legal window"),
    })
}

/// A beginning before, at or after the epoch.
pub(crate) fn any_beginning() -> impl Strategy<Value = Micros> {
    prop_oneof![
        Just(0),
        -20_000..20_000_i128,
        -4_000_000_000_000_000..4_000_000_000_000_000_i128,
    ]
}

/// A time to pass, as a fraction of some window: bursts, short gaps, gaps of about one window, idle times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gap {
    permille: Micros,
    extra: Micros,
}

impl Gap {
    pub(crate) fn of(self, size: RateSize) -> Micros {
        (window(size) * self.permille / 1_000 + self.extra).max(0)
    }
}

pub(crate) fn any_gap() -> impl Strategy<Value = Gap> {
    let permille = prop_oneof![
        3 => Just(0),
        3 => 0..300_i128,
        2 => Just(1_000),
        1 => 300..1_500_i128,
        1 => 1_500..6_000_i128,
    ];
    (permille, -2..3_i128).prop_map(|(permille, extra)| Gap { permille, extra })
}
