//! Sizes that change, or differ between jobs, on one key (R33, R67).

use proptest::prelude::*;
use warp_policy::limiter::{RateSize, RateState};
use warp_policy::{Style, Timestamp};

use crate::oracle::{
    Micros, any_beginning, any_gap, any_size, first_known, micros, timestamp, used, window,
};

/// All starts of a key, and from which of them on each size so far must still know them.
#[derive(Default)]
struct Model {
    starts: Vec<Micros>,
    memories: Vec<(RateSize, usize)>,
}

impl Model {
    /// A new size knows what the best of the former ones knows.
    fn known_to(&self, size: RateSize) -> &[Micros] {
        let firsts = || self.memories.iter().map(|&(_, first)| first);
        let own = self.memories.iter().find(|(known, _)| *known == size);
        let first = own.map(|&(_, first)| first).or_else(|| firsts().min());
        &self.starts[first.unwrap_or(0)..]
    }

    fn book(&mut self, size: RateSize, at: Micros) {
        if !self.memories.iter().any(|(known, _)| *known == size) {
            let first = self.starts.len() - self.known_to(size).len();
            self.memories.push((size, first));
        }
        self.starts.push(at);
        for (size, first) in &mut self.memories {
            *first = (*first).max(first_known(*size, &self.starts));
        }
    }
}

fn all_at(starts: usize, at: Timestamp) -> Vec<Timestamp> {
    vec![at; starts]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// R33, R67: whatever sizes came before, a size never admits a start that its own limit forbids, counting known starts; and it
    /// makes nobody wait longer than one of its windows.
    #[test]
    fn a_changed_policy_never_admits_more_than_it_allows(
        sizes in prop::collection::vec(any_size(), 2..5),
        beginning in any_beginning(),
        arrivals in prop::collection::vec((any_gap(), 0_usize..10, 0_usize..20), 1..40),
    ) {
        let mut state = RateState::default();
        let mut model = Model::default();
        let mut now = beginning;
        let mut current = 0;
        for (gap, jobs, change) in arrivals {
            if change < sizes.len() {
                current = change;
            }
            let size = sizes[current];
            now += gap.of(size);
            let at = timestamp(now);
            for _ in 0..jobs {
                if state.available(size, at) > 0 {
                    let counted = used(size, model.known_to(size), now);
                    prop_assert!(counted < size.count, "{} of {}", counted, size.count);
                    state.book(size, at);
                    model.book(size, now);
                } else {
                    let due = state.available_at(size, size.count, at).map(micros);
                    prop_assert!(due.is_some_and(|due| due > now && due <= now + window(size)));
                }
            }
        }
    }

    /// R67: an exact log that covers a new window gives it exact counts.
    #[test]
    fn a_log_tells_a_shorter_window_everything(
        old in any_size(),
        new in any_size(),
        style in prop::sample::select(vec![Style::Fixed, Style::Sliding]),
        beginning in any_beginning(),
        arrivals in prop::collection::vec((any_gap(), 0_usize..10), 1..40),
        later in any_gap(),
    ) {
        let old = RateSize {
            style: Style::Sliding,
            count: old.count.min(10_000),
            window: old.window.max(new.window),
        };
        let new = RateSize {
            style,
            count: new.count.min(10_000),
            ..new
        };
        let mut state = RateState::default();
        let mut starts = Vec::new();
        let mut now = beginning;
        for (gap, jobs) in arrivals {
            now += gap.of(new);
            for _ in 0..jobs.min(state.available(old, timestamp(now)) as usize) {
                state.book(old, timestamp(now));
                starts.push(now);
            }
        }
        now += later.of(new);
        prop_assert_eq!(state.used(new, timestamp(now)), used(new, &starts, now));
    }

    /// R67: judging by a size that has no counter yet says what booking then acts on.
    #[test]
    fn judging_before_the_first_start_is_like_judging_after_it(
        old in any_size(),
        new in any_size(),
        beginning in any_beginning(),
        arrivals in prop::collection::vec((any_gap(), 1_usize..10), 1..20),
        tokens in 1_u32..5,
    ) {
        prop_assume!((old.style, old.window) != (new.style, new.window));
        let mut state = RateState::default();
        let mut now = timestamp(beginning);
        for (gap, jobs) in arrivals {
            now = timestamp(micros(now) + gap.of(old));
            for at in all_at(jobs.min(state.available(old, now) as usize), now) {
                state.book(old, at);
            }
        }
        let before = state.used(new, now);
        let due_before = state.available_at(new, tokens, now);
        let mut after = state.clone();
        after.book(new, now);
        prop_assert_eq!(after.used(new, now), before.saturating_add(1).min(match new.style {
            Style::Fixed | Style::Sliding => u32::MAX,
            Style::TokenBucket => new.count,
        }));
        if before < new.count && tokens < new.count {
            prop_assert!(after.available_at(new, tokens, now) >= due_before);
            prop_assert!(due_before >= after.available_at(new, tokens - 1, now));
        }
    }
}
