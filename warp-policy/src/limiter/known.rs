//! What all counters of a key know together (R67).

use super::batch::Batch;
use super::counter::Counter;
use crate::time::Timestamp;

/// The last starts of a key, oldest first, each at the latest instant at which it can have happened.
///
/// Each counter knows some last starts without a gap: a log those of its window, a tally those of two windows. So they can be laid side
/// by side from the newest start backwards: how many are known is what the longest memory says, and when each of them happened is
/// what the most exact one says.
pub(super) fn known_starts(counters: &[Counter]) -> Vec<Batch> {
    let mut memories: Vec<Vec<Batch>> = counters.iter().map(Counter::known).collect();
    let mut starts = Vec::new();
    let mut latest = Timestamp::MAX;
    while let Some(batch) = newest_common(&memories) {
        // A start is never later than the one after it, even where only a coarser memory tells of it.
        latest = latest.min(batch.at);
        starts.push(Batch {
            at: latest,
            starts: batch.starts,
        });
        for memory in &mut memories {
            take_newest(memory, batch.starts);
        }
    }
    starts.reverse();
    starts
}

/// The longest run of newest starts that no memory divides, at the earliest of its instants.
fn newest_common(memories: &[Vec<Batch>]) -> Option<Batch> {
    let newest = || memories.iter().filter_map(|memory| memory.last());
    Some(Batch {
        at: newest().map(|batch| batch.at).min()?,
        starts: newest().map(|batch| batch.starts).min()?,
    })
}

fn take_newest(memory: &mut Vec<Batch>, starts: u32) {
    if let Some(newest) = memory.last_mut() {
        newest.starts = newest.starts.saturating_sub(starts);
        if newest.starts == 0 {
            memory.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limiter::RateSize;
    use crate::rate_limit::{Style, Window};

    fn counter(style: Style, seconds: i128, starts: &[(i64, u32)]) -> Counter {
        let mut counter = Counter::new(RateSize {
            style,
            count: 100,
            window: Window::from_seconds(seconds).unwrap(),
        });
        for &batch in starts {
            counter.record(at(batch));
        }
        counter
    }

    fn at((second, starts): (i64, u32)) -> Batch {
        Batch {
            at: Timestamp::from_secs(second),
            starts,
        }
    }

    /// R67: the log is exact for its window, the tally reaches further back.
    #[test]
    fn the_most_exact_and_the_longest_memory_complete_each_other() {
        let starts = [(3_500, 2), (3_700, 3), (3_790, 4), (3_795, 5)];
        let tally = counter(Style::Fixed, 3_600, &starts);
        assert_eq!(
            known_starts(std::slice::from_ref(&tally)),
            [at((3_500, 2)), at((3_795, 12))]
        );
        let log = counter(Style::Sliding, 60, &starts);
        let expected = [
            at((3_500, 2)),
            at((3_790, 3)),
            at((3_790, 4)),
            at((3_795, 5)),
        ];
        assert_eq!(known_starts(&[tally.clone(), log.clone()]), expected);
        assert_eq!(known_starts(&[log, tally]), expected);
    }

    /// R67: a counter that nothing was recorded in knows nothing, and ends nothing.
    #[test]
    fn an_empty_memory_hides_no_other() {
        let empty = counter(Style::Sliding, 60, &[]);
        let tally = counter(Style::TokenBucket, 60, &[(1, 2), (61, 3)]);
        assert_eq!(known_starts(std::slice::from_ref(&empty)), []);
        assert_eq!(known_starts(&[empty, tally]), [at((1, 2)), at((61, 3))]);
    }
}
