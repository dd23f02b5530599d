//! Each style by itself against its oracle (R61–R64).

use proptest::prelude::*;
use warp_policy::limiter::RateState;

use crate::oracle::{any_beginning, any_gap, any_size, micros, timestamp, used};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// R61, R62, R63: at every arrival the state knows what a full list of starts says.
    #[test]
    fn a_state_answers_like_the_full_list_of_starts(
        size in any_size(),
        beginning in any_beginning(),
        arrivals in prop::collection::vec((any_gap(), 0_usize..12), 1..60),
    ) {
        let mut state = RateState::default();
        let mut starts = Vec::new();
        let mut now = beginning;
        for (gap, jobs) in arrivals {
            now += gap.of(size);
            for _ in 0..jobs {
                let expected = used(size, &starts, now);
                prop_assert_eq!(state.used(size, timestamp(now)), expected);
                prop_assert_eq!(state.available(size, timestamp(now)), size.count - expected);
                if expected < size.count {
                    state.book(size, timestamp(now));
                    starts.push(now);
                    prop_assert_eq!(state.last_start(), Some(timestamp(now)));
                }
            }
        }
    }

    /// R64: not a microsecond before, and surely at the instant that a waiter is told.
    #[test]
    fn the_due_instant_is_exact(
        size in any_size(),
        beginning in any_beginning(),
        arrivals in prop::collection::vec((any_gap(), 0_usize..12), 1..40),
        tokens in 1_u32..14,
    ) {
        let mut state = RateState::default();
        let mut starts = Vec::new();
        let mut now = beginning;
        for (gap, jobs) in arrivals {
            now += gap.of(size);
            let room = size.count - used(size, &starts, now);
            for _ in 0..jobs.min(room as usize) {
                state.book(size, timestamp(now));
                starts.push(now);
            }
            let available = |at| size.count - used(size, &starts, at);
            match state.available_at(size, tokens, timestamp(now)).map(micros) {
                None => prop_assert!(tokens > size.count),
                Some(due) => {
                    prop_assert!(due >= now);
                    prop_assert!(available(due) >= tokens);
                    prop_assert!(due == now || available(due - 1) < tokens);
                }
            }
        }
    }

    /// R64: a backlog that always waits for the due instant makes progress, in every style.
    #[test]
    fn waiting_for_the_due_instant_drains_a_backlog(size in any_size(), beginning in any_beginning()) {
        let mut state = RateState::default();
        let mut now = timestamp(beginning);
        for _ in 0..30 {
            let due = state.available_at(size, 1, now).expect("a count of at least one");
            prop_assert!(due >= now && state.available(size, due) >= 1);
            state.book(size, due);
            now = due;
        }
        let windows = 30_u64.div_ceil(u64::from(size.count));
        let latest = timestamp(beginning).plus_micros(windows * size.window.as_micros());
        prop_assert!(now <= latest);
    }
}
