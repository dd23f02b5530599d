//! What holds for whole states; each style has its own tests, and `tests/limiter` compares with oracles.

use super::*;
use crate::rate_limit::{Style, Window};

const SECOND: u64 = MICROS_PER_SECOND;

fn size(style: Style, count: u32, seconds: i128) -> RateSize {
    RateSize {
        style,
        count,
        window: Window::from_seconds(seconds).unwrap(),
    }
}

fn secs(at: i64) -> Timestamp {
    Timestamp::from_secs(at)
}

fn booked(size: RateSize, starts: &[i64]) -> RateState {
    let mut state = RateState::default();
    for &at in starts {
        state.book(size, secs(at));
    }
    state
}

/// R33: a start that was judged by one size counts under every other.
#[test]
fn a_start_is_booked_in_every_counter() {
    let minutely = size(Style::Sliding, 10, 60);
    let hourly = size(Style::Sliding, 10, 3_600);
    let mut state = booked(hourly, &[0]);
    for at in [10, 100, 200] {
        state.book(minutely, secs(at));
    }
    assert_eq!(state.used(hourly, secs(200)), 4);
    assert_eq!(state.used(minutely, secs(200)), 1);
}

/// R53, S15: "remaining" reads 0 above the limit, and a limit of 0 admits nobody.
#[test]
fn over_the_limit_nothing_is_available() {
    for style in Style::ALL {
        let state = booked(size(style, 10, 60), &[0, 1, 2, 3, 4]);
        for count in [0, 3] {
            let lowered = size(style, count, 60);
            assert_eq!(state.available(lowered, secs(4)), 0, "{style}");
            assert_eq!(state.available_at(lowered, count + 1, secs(4)), None);
        }
    }
}

/// R62: a count that no log can prove is cut to the largest that one can.
#[test]
fn sliding_admits_no_more_than_its_log_can_prove() {
    let size = size(Style::Sliding, u32::MAX, 60);
    let state = RateState::default();
    assert_eq!(state.available(size, secs(0)), 10_000);
    assert_eq!(state.available_at(size, 10_001, secs(0)), None);
}

/// R49: an instant before the last start is judged and booked as the last start.
#[test]
fn no_start_is_booked_before_the_last_one() {
    for style in Style::ALL {
        let size = size(style, 3, 60);
        let mut state = booked(size, &[70, 65]);
        assert_eq!(state.last_start(), Some(secs(70)), "{style}");
        assert_eq!(state.used(size, secs(5)), 2, "{style}");
        assert_eq!(state.available_at(size, 1, secs(5)), Some(secs(5)));
        state.book(size, secs(5));
        assert!(state.available_at(size, 1, secs(5)) > Some(secs(70)));
    }
}

/// R19: counters of a stored state that do not agree are judged by the latest start of any.
#[test]
fn the_last_start_is_that_of_every_counter() {
    let mut counters = booked(size(Style::Fixed, 3, 60), &[70]).counters;
    counters.extend(booked(size(Style::Sliding, 3, 60), &[90]).counters);
    for _ in 0..2 {
        counters.reverse();
        let counters = counters.clone();
        assert_eq!(RateState { counters }.last_start(), Some(secs(90)));
    }
}

/// R49: more than one second back is another clock, one second is not.
#[test]
fn only_a_step_of_more_than_a_second_moves_the_starts() {
    for style in Style::ALL {
        let size = size(style, 5, 60);
        let state = booked(size, &[100, 100]);
        let mut kept = state.clone();
        assert!(!kept.settle(secs(99)));
        assert!(!kept.settle(secs(500)));
        assert_eq!(kept, state, "{style}");

        let mut moved = state.clone();
        let now = secs(99).minus_micros(1);
        assert!(moved.settle(now));
        assert_eq!(moved.last_start(), Some(now), "{style}");
        assert_eq!(moved.used(size, now), 2, "{style}");
        assert!(!moved.settle(now), "once");
    }
    assert!(!RateState::default().settle(Timestamp::MIN));
}

/// R67: starts of a replaced policy count in the new one's window, also where only their tally is known.
#[test]
fn known_starts_count_under_a_new_policy() {
    for old in Style::ALL {
        let state = booked(size(old, 10, 60), &[3_590, 3_610, 3_615, 3_620]);
        let used = |style| state.used(size(style, 4, 100), secs(3_620));
        assert_eq!(used(Style::Fixed), 3, "{old}");
        assert_eq!(used(Style::Sliding), 4, "{old}");
        assert_eq!(used(Style::TokenBucket), 3, "{old}: one is back");
    }
}

/// R67: what a counter has forgotten may still be known to another.
#[test]
fn a_new_policy_learns_from_the_longest_memory() {
    let mut state = booked(size(Style::Fixed, 10, 3_600), &[10, 20]);
    for at in [300, 400, 500] {
        state.book(size(Style::Sliding, 10, 1), secs(at));
    }
    let size = size(Style::Fixed, 10, 86_400);
    assert_eq!(state.used(size, secs(500)), 5);
}

/// R33: the number of counters is bounded, and those in use stay.
#[test]
fn the_counter_judged_by_longest_ago_gives_way() {
    let in_use = size(Style::Sliding, 1_000, 3_600);
    let passing = |count| size(Style::TokenBucket, count, 1);
    let mut state = booked(in_use, &[0]);
    for count in 1..=100 {
        let at = secs(10 * i64::from(count));
        state.book(passing(count), at);
        state.book(in_use, at);
    }
    assert_eq!(state.counters.len(), MAX_COUNTERS);
    assert_eq!(
        state.used(in_use, secs(1_000)),
        201,
        "nothing was forgotten"
    );
    assert!(state.counter(passing(100)).is_some());
    assert!(state.counter(passing(1)).is_none());
}

/// R68: kept while some permitted size could still count it, and for a small step back of the clock.
#[test]
fn a_state_goes_when_no_permitted_size_could_count_it() {
    let longest = size(Style::Sliding, 1, 604_800);
    let forgotten = secs(604_801);
    for style in Style::ALL {
        let mut state = booked(size(style, 1, 1), &[0]);
        for kept_at in [secs(-9_000_000), secs(2), forgotten.minus_micros(1)] {
            state.prune(kept_at);
            assert!(!state.is_fresh(), "{style} at {kept_at}");
        }
        assert_eq!(state.available(longest, secs(604_799)), 0, "{style}");
        assert_eq!(state.available(longest, secs(604_800)), 1, "{style}");
        state.prune(forgotten);
        assert!(state.is_fresh(), "{style}");
        assert_eq!(state, RateState::default());
    }
}

/// R45: a turn that books many starts at one instant is cheap, also where several counters learn of each.
#[test]
fn a_million_starts_at_one_instant_are_cheap() {
    let mut state = RateState::default();
    let sizes = [
        size(Style::TokenBucket, 1_000_000, 1),
        size(Style::Sliding, 10_000, 60),
    ];
    for start in 0..10_000 {
        state.book(
            sizes[1],
            secs(-3_600).plus_micros(start * 7 * SECOND / 1_000),
        );
    }
    let now = secs(0);
    for _ in 0..1_000_000 {
        state.book(sizes[0], now);
    }
    assert_eq!(state.available(sizes[0], now), 0);
    assert_eq!(state.used(sizes[1], now), 10_000);
}

/// The stored form is small and tells what it holds.
#[test]
fn a_stored_state_is_compact() {
    let mut state = booked(size(Style::Fixed, 3, 60), &[5, 65]);
    state.book(size(Style::TokenBucket, 7, 10), secs(65));
    let expected = concat!(
        r#"{"counters":[{"token_bucket":{"count":7,"refill":[2857142,6],"#,
        r#""tally":{"window":10000000,"current":[65000000,2],"previous":[5000000,1]}}},"#,
        r#"{"fixed":{"window":60000000,"current":[65000000,2],"previous":[5000000,1]}}]}"#,
    );
    assert_eq!(serde_json::to_string(&state).unwrap(), expected);
    assert_eq!(serde_json::from_str::<RateState>(expected).unwrap(), state);
}
