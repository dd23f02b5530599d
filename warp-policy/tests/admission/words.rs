//! Keys, demands and instants in few words.

use warp_policy::admission::{Demand, Family, KeyId, Route, Want};
use warp_policy::limiter::RateSize;
use warp_policy::{Key, Mode, Style, Timestamp, Window};

/// The instant `millis` after the beginning of every test: a start of the day, hence of every window used here.
pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_micros(1_760_011_200_000_000 + millis * 1_000)
}

/// A kind in the queue that most tests use.
pub(crate) fn route(kind: &str) -> Route {
    Route::new("queue", kind)
}

pub(crate) fn slot_key(name: &str) -> KeyId {
    KeyId {
        family: Family::Concurrency,
        key: Key::new(name).expect("a legal key"),
    }
}

pub(crate) fn rate_key(name: &str) -> KeyId {
    KeyId {
        family: Family::RateLimit,
        key: Key::new(name).expect("a legal key"),
    }
}

/// A semaphore that waits.
pub(crate) fn slots(name: &str, limit: u32) -> Demand {
    Demand {
        key: slot_key(name),
        want: Want::Slot { limit },
        mode: Mode::Wait,
    }
}

/// A mutex that waits.
pub(crate) fn mutex(name: &str) -> Demand {
    slots(name, 1)
}

/// A rate limit that waits.
pub(crate) fn rate(name: &str, style: Style, count: u32, millis: u64) -> Demand {
    Demand {
        key: rate_key(name),
        want: Want::Token(size(style, count, millis)),
        mode: Mode::Wait,
    }
}

pub(crate) fn size(style: Style, count: u32, millis: u64) -> RateSize {
    RateSize {
        style,
        count,
        window: Window::try_from(millis * 1_000).expect("a legal window"),
    }
}

/// The same demand in skip mode.
pub(crate) fn skipping(demand: Demand) -> Demand {
    Demand {
        mode: Mode::Skip,
        ..demand
    }
}
