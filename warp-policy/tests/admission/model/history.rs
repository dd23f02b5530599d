//! The store's own books: what runs, and every start that ever was. No limiter state of the planner is used here.

use std::collections::BTreeMap;

use warp_policy::admission::{KeyId, Plan, SizeOverride, Turn, Want};
use warp_policy::limiter::RateSize;
use warp_policy::{Style, Timestamp};

use super::store::Store;

const SECOND: i64 = 1_000_000;

/// The starts of each rate key.
#[derive(Debug, Default)]
pub(super) struct History {
    keys: BTreeMap<KeyId, Log>,
}

#[derive(Debug, Default)]
struct Log {
    last: Option<i64>,
    /// By each size that ever judged: all starts since it first did, in order. What came before is for the limiter's own tests (R67).
    starts: BTreeMap<RateSize, Vec<i64>>,
}

impl Store {
    /// R40, R49, R50, R53, R61–R63, R102: every start fits the sizes in force at that moment.
    pub(super) fn check_history(&mut self, turn: &Turn, plan: &Plan) {
        let now = turn.now.as_micros();
        for key in turn.keys.keys() {
            self.history
                .keys
                .entry(key.clone())
                .or_default()
                .settle(now);
        }
        let mut running: BTreeMap<&KeyId, u32> = BTreeMap::new();
        for start in &plan.starts {
            let job = &self.jobs[&start.job];
            let logs = &mut self.history.keys;
            let lasts = job
                .demands
                .iter()
                .filter_map(|demand| logs[&demand.key].last);
            let instant = lasts.max().map_or(now, |last| last.max(now));
            assert_eq!(start.at, Timestamp::from_micros(instant), "R49");
            assert!(instant <= now + SECOND, "R49: no start in the far future");
            for demand in &*job.demands {
                let control = turn.keys[&demand.key].control;
                assert_eq!(control.pause, None, "R102: a paused key admits nobody");
                match (demand.want, control.size) {
                    (Want::Slot { limit }, size) => {
                        let limit = match size {
                            Some(SizeOverride::Limit(limit)) => limit,
                            _ => limit,
                        };
                        let before = turn.keys[&demand.key].used;
                        let running = running.entry(&demand.key).or_insert(before);
                        assert!(*running < limit, "R50: {} has {limit} slots", demand.key);
                        *running += 1;
                    }
                    (Want::Token(size), replaced) => {
                        let size = match replaced {
                            Some(SizeOverride::Rate { count, window }) => RateSize {
                                count,
                                window,
                                ..size
                            },
                            _ => size,
                        };
                        let log = logs.get_mut(&demand.key).expect("a key of the turn");
                        log.start(size, instant);
                    }
                    (want, _) => panic!("{want:?}"),
                }
            }
        }
    }
}

impl Log {
    /// The clock went back: what counted then counts as if it started now, for one window more (R49).
    fn settle(&mut self, now: i64) {
        let Some(last) = self.last.filter(|&last| last > now + SECOND) else {
            return;
        };
        for (&size, starts) in &mut self.starts {
            let counting = used(size, starts, last);
            *starts = vec![now; usize::try_from(counting).expect("a small count")];
        }
        self.last = Some(now);
    }

    fn start(&mut self, size: RateSize, at: i64) {
        let starts = self.starts.entry(size).or_default();
        let used = used(size, starts, at);
        assert!(
            used < size.count,
            "R61–R63: {used} starts count against {size:?}"
        );
        for starts in self.starts.values_mut() {
            starts.push(at);
        }
        self.last = Some(at);
    }
}

/// How many starts count against a size. A token that is partly back counts as back: less than the truth, and enough for a bound.
fn used(size: RateSize, starts: &[i64], at: i64) -> u32 {
    let window = i64::try_from(size.window.as_micros()).expect("a short window");
    let counted = match size.style {
        Style::Fixed => {
            let same = |start: &&i64| start.div_euclid(window) == at.div_euclid(window);
            starts.iter().filter(same).count()
        }
        Style::Sliding => starts.iter().filter(|&&start| start > at - window).count(),
        Style::TokenBucket => {
            // In parts of a token, of which `window` make one and `count` come back each microsecond.
            let count = i64::from(size.count);
            let mut missing = 0;
            let mut last = at;
            for &start in starts {
                missing = (missing - (start - last).max(0) * count).max(0) + window;
                // A start that another size admitted leaves an empty bucket empty, not in debt (R33).
                missing = missing.min(count * window);
                last = start;
            }
            missing = (missing - (at - last).max(0) * count).max(0);
            usize::try_from(missing / window).expect("a small count")
        }
    };
    u32::try_from(counted).expect("a small count")
}
