//! A clock that goes back (R49, R66), and states that go away (R68).

use proptest::prelude::*;
use warp_policy::limiter::{RateSize, RateState};
use warp_policy::{Style, Timestamp};

use crate::oracle::{
    Micros, any_beginning, any_gap, any_size, first_known, micros, timestamp, used, window,
};

const SECOND: Micros = 1_000_000;

/// What a key is allowed when all its known starts are moved to where the clock went.
#[derive(Default)]
struct Model {
    starts: Vec<Micros>,
}

impl Model {
    fn settle(&mut self, size: RateSize, now: Micros) {
        let Some(&last) = self.starts.last() else {
            return;
        };
        if last - now <= SECOND {
            return;
        }
        match size.style {
            // Only the tokens that were missing at the last start are missing now.
            Style::TokenBucket => {
                for start in &mut self.starts {
                    *start -= last - now;
                }
            }
            Style::Fixed | Style::Sliding => {
                let known = self.starts.len() - first_known(size, &self.starts);
                self.starts = vec![now; known];
            }
        }
    }
}

/// A step of the clock: forward in parts of a window, or back in windows, in seconds, or by little.
#[derive(Clone, Copy, Debug)]
enum Step {
    Forward(Micros, Micros),
    Back(Micros),
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (prop_oneof![Just(0), 0..300_i128, 900..1_100_i128, 0..4_000_i128], 0..3_i128)
            .prop_map(|(permille, extra)| Step::Forward(permille, extra)),
        1 => (0..3_i128).prop_map(Step::Back),
        1 => (SECOND - 2..SECOND + 3).prop_map(Step::Back),
        1 => (0..SECOND).prop_map(Step::Back),
        1 => (0..100 * SECOND).prop_map(Step::Back),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// R49, R66: judged by the booked instants after moving, the limit holds; and nobody waits longer than a window from `now`
    /// (from the last start, where the step back was small).
    #[test]
    fn time_that_goes_back_gives_no_token_twice(
        size in any_size(),
        beginning in any_beginning(),
        steps in prop::collection::vec((any_step(), 0_usize..10), 1..60),
    ) {
        let mut state = RateState::default();
        let mut model = Model::default();
        let mut now = beginning;
        for (step, jobs) in steps {
            now += match step {
                Step::Forward(permille, extra) => window(size) * permille / 1_000 + extra,
                Step::Back(by) => -by,
            };
            let went_back = state.last_start().is_some_and(|last| micros(last) - now > SECOND);
            prop_assert_eq!(state.settle(timestamp(now)), went_back);
            model.settle(size, now);
            let at = state.last_start().map_or(now, |last| now.max(micros(last)));
            prop_assert!(at - now <= SECOND);
            for _ in 0..jobs {
                let expected = used(size, &model.starts, at);
                prop_assert_eq!(state.used(size, timestamp(at)), expected);
                if state.available(size, timestamp(at)) == 0 {
                    prop_assert!(expected >= size.count);
                    let due = state.available_at(size, size.count, timestamp(at)).map(micros);
                    prop_assert!(due.is_some_and(|due| due > at && due <= at + window(size)));
                } else {
                    prop_assert!(expected < size.count);
                    state.book(size, timestamp(at));
                    model.starts.push(at);
                }
            }
        }
    }

    /// R67: settling loses no start; a size that comes afterwards still counts them, and none in the future.
    #[test]
    fn moved_starts_are_still_known(
        size in any_size(),
        starts in 1_u32..8,
        back in 2 * SECOND..100 * SECOND,
    ) {
        let mut state = RateState::default();
        for _ in 0..starts {
            state.book(size, Timestamp::EPOCH);
        }
        let now = timestamp(-back);
        prop_assert!(state.settle(now));
        let other = RateSize { style: Style::Sliding, count: 10_000, ..size };
        prop_assert_eq!(state.used(other, now), starts);
        prop_assert_eq!(state.used(other, now.plus_micros(size.window.as_micros())), 0);
    }

    /// R68: a pruned state answers every size like an unpruned one, also after a small step back and after further starts.
    #[test]
    fn pruning_changes_no_answer(
        sizes in prop::collection::vec(any_size(), 1..4),
        judged_by in any_size(),
        beginning in any_beginning(),
        starts in prop::collection::vec((any_gap(), 0_usize..4), 1..20),
        idle in prop_oneof![
            0..604_800 * SECOND,
            604_800 * SECOND - 3..604_801 * SECOND + 3,
            604_800 * SECOND..2_000_000 * SECOND,
        ],
        back in 0..=SECOND,
        later in prop::collection::vec(any_gap(), 0..6),
    ) {
        let mut kept = RateState::default();
        let mut now = beginning;
        for (gap, index) in starts {
            let size = sizes[index % sizes.len()];
            now += gap.of(size);
            kept.book(size, timestamp(now));
        }
        now += idle;
        let mut pruned = kept.clone();
        pruned.prune(timestamp(now));
        let last = kept.last_start().map_or(now, micros);
        now = last.max(now - back);
        // A size that did not come yet would learn of further starts only from those that did, pruned or not.
        let mut sizes = sizes;
        sizes.push(judged_by);
        for gap in later {
            for size in std::mem::replace(&mut sizes, vec![judged_by]) {
                let at = timestamp(now);
                let tokens = size.count.min(2);
                prop_assert_eq!(pruned.used(size, at), kept.used(size, at));
                prop_assert_eq!(
                    pruned.available_at(size, tokens, at),
                    kept.available_at(size, tokens, at)
                );
            }
            pruned.book(judged_by, timestamp(now));
            kept.book(judged_by, timestamp(now));
            now += gap.of(judged_by);
        }
    }
}
