//! The numbers of the scenarios S11, S12, S13, S15 and S16.

use warp_policy::limiter::{RateSize, RateState};
use warp_policy::{Style, Timestamp, Window};

const SECOND: u64 = 1_000_000;
const DAY: u64 = 86_400 * SECOND;

fn size(style: Style, count: u32, seconds: i128) -> RateSize {
    RateSize {
        style,
        count,
        window: Window::from_seconds(seconds).expect("a legal window"),
    }
}

/// A start of the day, hence of a window of each length used here.
fn noon() -> Timestamp {
    Timestamp::from_secs(1_760_011_200)
}

fn start_all(state: &mut RateState, size: RateSize, at: Timestamp) -> u32 {
    let starts = state.available(size, at);
    for _ in 0..starts {
        state.book(size, at);
    }
    starts
}

/// The starts of `jobs` waiting jobs, each at the first instant that it is given.
fn drain(state: &mut RateState, size: RateSize, jobs: usize, from: Timestamp) -> Vec<Timestamp> {
    let mut now = from;
    let mut starts = Vec::new();
    for _ in 0..jobs {
        now = state
            .available_at(size, 1, now)
            .expect("a count above zero");
        state.book(size, now);
        starts.push(now);
    }
    starts
}

fn seconds_after(origin: Timestamp, starts: &[Timestamp]) -> Vec<u64> {
    let seconds = starts.iter().map(|start| start.micros_since(origin));
    seconds.map(|micros| micros / SECOND).collect()
}

/// S11 (a): a pause of 400 days banks exactly one bucket.
#[test]
fn a_long_pause_banks_one_bucket() {
    let size = size(Style::TokenBucket, 1_000_000, 1);
    let mut state = RateState::default();
    assert_eq!(start_all(&mut state, size, noon()), 1_000_000);
    let later = noon().plus_micros(400 * DAY);
    assert_eq!(start_all(&mut state, size, later), 1_000_000);
    let due = state.available_at(size, 1, later);
    assert_eq!(due, Some(later.plus_micros(1)));
}

/// S11 (b): the largest count over the longest window.
#[test]
fn the_largest_bucket_is_exact() {
    let size = size(Style::TokenBucket, 4_294_967_295, 604_800);
    let mut state = RateState::default();
    assert_eq!(state.available(size, noon()), 4_294_967_295);
    for _ in 0..7_102 {
        state.book(size, noon());
    }
    assert_eq!(state.available(size, noon()), 4_294_967_295 - 7_102);
    // One token takes 140.8 µs.
    let due = state.available_at(size, u32::MAX, noon());
    assert_eq!(due, Some(noon().plus_micros(1_000_076)));
    assert_eq!(state.used(size, noon().plus_micros(140)), 7_102);
    assert_eq!(state.used(size, noon().plus_micros(141)), 7_101);
}

/// S11 (c): the smallest count over the longest window.
#[test]
fn one_per_week_is_due_a_week_later() {
    for style in [Style::TokenBucket, Style::Sliding] {
        let size = size(style, 1, 604_800);
        let mut state = RateState::default();
        assert_eq!(start_all(&mut state, size, noon()), 1);
        let due = state.available_at(size, 1, noon());
        assert_eq!(due, Some(noon().plus_micros(7 * DAY)), "{style}");
    }
}

/// S11 (d): 3 at once and 30 in 70 seconds; the hundredth thousand is where it has to be, to the microsecond.
#[test]
fn an_odd_ratio_does_not_drift() {
    let size = size(Style::TokenBucket, 3, 7);
    let mut state = RateState::default();
    let starts = drain(&mut state, size, 100_003, noon());
    let end = noon().plus_micros(70 * SECOND);
    assert_eq!(starts.iter().filter(|&&start| start <= end).count(), 33);
    for (index, start) in (0_u64..).zip(&starts[3..]) {
        let exact = ((index + 1) * 7 * SECOND).div_ceil(3);
        assert_eq!(*start, noon().plus_micros(exact));
    }
}

/// S12: ten jobs just before and ten just after a full minute.
#[test]
fn sliding_holds_across_a_boundary_and_fixed_does_not() {
    let before = noon().minus_micros(SECOND / 10);
    let after = noon().plus_micros(SECOND / 10);
    let run = |style| {
        let size = size(style, 10, 60);
        let mut state = RateState::default();
        let first = drain(&mut state, size, 10, before);
        let second = drain(&mut state, size, 10, after);
        (first, second)
    };
    let a_minute_later = before.plus_micros(60 * SECOND);
    assert_eq!(
        run(Style::Sliding),
        (vec![before; 10], vec![a_minute_later; 10])
    );
    assert_eq!(run(Style::Fixed), (vec![before; 10], vec![after; 10]));
}

/// S13: a job every half second for five minutes, in skip mode.
#[test]
fn being_turned_away_costs_nothing() {
    for style in Style::ALL {
        let size = size(style, 10, 60);
        let mut state = RateState::default();
        let mut starts = Vec::new();
        for arrival in 0..600 {
            let at = noon().plus_micros(arrival * SECOND / 2);
            let before = state.clone();
            if state.available(size, at) > 0 {
                state.book(size, at);
                starts.push(at);
            } else {
                assert_eq!(state, before, "{style}: a refusal leaves no trace");
            }
        }
        let expected = match style {
            Style::Fixed | Style::Sliding => 50..=50,
            Style::TokenBucket => 59..=60,
        };
        assert!(
            expected.contains(&starts.len()),
            "{style}: {}",
            starts.len()
        );
        let gaps = starts.windows(2).map(|pair| pair[1].micros_since(pair[0]));
        assert!(gaps.max() <= Some(60 * SECOND), "{style}");
    }
}

/// S15: lowered in the middle of a window, a job starts when enough starts have left it.
#[test]
fn a_lowered_rate_waits_for_the_right_start() {
    let mut state = RateState::default();
    for second in 0..8 {
        state.book(
            size(Style::Sliding, 10, 60),
            noon().plus_micros(second * SECOND),
        );
    }
    let after = |seconds| noon().plus_micros(seconds * SECOND);
    let lowered = size(Style::Sliding, 3, 60);
    assert_eq!(state.available(lowered, after(10)), 0);
    assert_eq!(state.used(lowered, after(10)), 8);
    assert_eq!(state.available_at(lowered, 1, after(10)), Some(after(65)));
    let shortened = size(Style::Sliding, 3, 10);
    assert_eq!(state.available_at(shortened, 1, after(12)), Some(after(15)));
}

/// S16 (a): twelve jobs at one start per two seconds.
#[test]
fn a_backlog_drains_at_its_rate() {
    let expected: Vec<u64> = (0..12).map(|job| 2 * job).collect();
    for style in Style::ALL {
        let size = size(style, 1, 2);
        let mut state = RateState::default();
        let starts = drain(&mut state, size, 12, noon());
        assert_eq!(seconds_after(noon(), &starts), expected, "{style}");
    }
}
