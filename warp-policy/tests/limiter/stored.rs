//! Stored states: what comes back, and what a damaged one can do.

use proptest::prelude::*;
use serde_json::{Value, json};
use warp_policy::Timestamp;
use warp_policy::limiter::RateState;

use crate::oracle::{any_beginning, any_gap, any_size, timestamp};

/// Numbers at and around everything that a stored field could be confused with.
fn any_number() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => (0_u64..20).prop_map(Value::from),
        2 => prop::sample::select(vec![
            json!(-1), json!(1_000), json!(10_000), json!(604_800_000_000_u64), json!(u32::MAX),
            json!(u64::from(u32::MAX) + 1), json!(i64::MAX), json!(i64::MIN), json!(u64::MAX),
        ]),
        1 => any::<i64>().prop_map(Value::from),
        1 => Just(Value::Null),
    ]
}

fn any_window() -> impl Strategy<Value = Value> {
    prop_oneof![
        9 => prop::sample::select(vec![json!(1_000), json!(7_000), json!(604_800_000_000_u64)]),
        1 => any_number(),
    ]
}

fn any_batch() -> impl Strategy<Value = Value> {
    prop_oneof![
        9 => (any_number(), any_number()).prop_map(|(at, starts)| json!([at, starts])),
        1 => Just(Value::Null),
    ]
}

fn any_counter() -> impl Strategy<Value = Value> {
    let tally = || {
        (any_window(), any_batch(), any_batch()).prop_map(|(window, current, previous)| {
            json!({ "window": window, "current": current, "previous": previous })
        })
    };
    let log = (
        any_window(),
        any_number(),
        prop::collection::vec(any_batch(), 0..4),
    );
    let bucket = (any_number(), any_batch(), tally());
    prop_oneof![
        tally().prop_map(|tally| json!({ "fixed": tally })),
        log.prop_map(|(window, since, batches)| {
            json!({ "sliding": { "window": window, "since": since, "batches": batches } })
        }),
        bucket.prop_map(|(count, refill, tally)| {
            json!({ "token_bucket": { "count": count, "refill": refill, "tally": tally } })
        }),
    ]
}

fn any_instant() -> impl Strategy<Value = Timestamp> {
    prop_oneof![
        Just(Timestamp::MIN),
        Just(Timestamp::MAX),
        (-20_000_i64..20_000).prop_map(Timestamp::from_micros),
        any::<i64>().prop_map(Timestamp::from_micros),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// A state comes back as it was stored.
    #[test]
    fn a_state_survives_storage(
        sizes in prop::collection::vec(any_size(), 1..4),
        beginning in any_beginning(),
        starts in prop::collection::vec((any_gap(), 0_usize..4), 0..40),
    ) {
        let mut state = RateState::default();
        let mut now = beginning;
        for (gap, index) in starts {
            let size = sizes[index % sizes.len()];
            now += gap.of(size);
            state.book(size, timestamp(now));
        }
        let stored = serde_json::to_string(&state).unwrap();
        prop_assert_eq!(serde_json::from_str::<RateState>(&stored).unwrap(), state);
    }

    /// R19: a damaged state is refused, or it is judged without a panic and without ever admitting more than the count.
    #[test]
    fn a_damaged_state_does_no_harm(
        counters in prop::collection::vec(any_counter(), 1..4),
        sizes in prop::collection::vec(any_size(), 1..4),
        instants in prop::collection::vec(any_instant(), 1..8),
    ) {
        let stored = json!({ "counters": counters });
        let Ok(mut state) = serde_json::from_value::<RateState>(stored) else {
            return Ok(());
        };
        for at in instants {
            state.settle(at);
            for &size in &sizes {
                let available = state.available(size, at);
                prop_assert!(available <= size.count);
                prop_assert_eq!(available, size.count.saturating_sub(state.used(size, at)));
                prop_assert!(state.available_at(size, 1, at) >= Some(at));
                state.book(size, at);
            }
            state.prune(at);
        }
    }
}
