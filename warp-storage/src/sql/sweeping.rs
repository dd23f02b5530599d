//! Which part of a store a sweep looks at, and what it makes of it.

use warp_policy::Timestamp;
use warp_policy::admission::{Fleet, KeyId, LaneUpdate, Plan, Turn, plan};

use super::documents::{LaneRow, SweepPart, SweptLimiter, family};
use super::limiters::{Limiters, read_rate};

/// How many lines one sweep looks at, and how many limiters; the next one goes on from there.
pub(crate) const SWEEP_BATCH: usize = 256;

/// Where the last sweep stopped: among the keys with a line, and among the limiters.
#[derive(Debug, Default)]
pub(crate) struct Cursors {
    line: Option<KeyId>,
    limiter: Option<KeyId>,
}

impl Cursors {
    /// The last line and the last limiter, each as the family and the key.
    pub(crate) fn texts(&self) -> [(String, String); 2] {
        [&self.line, &self.limiter].map(|key| {
            key.as_ref().map_or((String::new(), String::new()), |key| {
                (family(key.family).to_owned(), key.key.to_string())
            })
        })
    }

    /// Notes what has been come to. A part that is not full is the last one, and the next sweep begins anew.
    pub(crate) fn go_on(&mut self, part: &SweepPart) {
        let lines = part.lines.last();
        self.line = lines.filter(|_| part.lines.len() == SWEEP_BATCH).cloned();
        let limiters = part.limiters.last();
        self.limiter = limiters
            .filter(|_| part.limiters.len() == SWEEP_BATCH)
            .map(|row| row.key.clone());
    }
}

/// The limiters that a fresh one would answer the same as (R68).
pub(crate) fn idle(rows: Vec<SweptLimiter>, now: Timestamp) -> Result<Vec<KeyId>, String> {
    let mut idle = Vec::new();
    for row in rows.into_iter().filter(|row| !row.is_used) {
        let Some(text) = &row.rate else {
            idle.push(row.key);
            continue;
        };
        let mut rate = read_rate(&row.key, text)?;
        rate.prune(now);
        if rate.is_fresh() {
            idle.push(row.key);
        }
    }
    Ok(idle)
}

/// Restores lines without a turn.
pub(crate) fn restored(limiters: &Limiters, fleet: Fleet, now: Timestamp) -> Plan {
    plan(Turn {
        now,
        fleet,
        room: 0,
        candidates: Vec::new(),
        lanes: Vec::new(),
        keys: limiters.states.clone(),
    })
}

/// A lane that slept although it could go, and that no turn was told to look at in time.
#[derive(Debug)]
pub(crate) struct Overslept<'a> {
    pub(crate) lane: &'a LaneRow,
    pub(crate) sleeps_on: &'a KeyId,
    pub(crate) at: Timestamp,
}

/// Whether a lane slept on although it could go, and its key is not to be looked at by then. It was not lost where another lane of its
/// route is due there by then: a turn that reads a long line with gaps leaves those behind them to that one.
pub(crate) fn overslept<'a>(
    update: &'a LaneUpdate,
    limiters: &'a Limiters,
) -> Option<Overslept<'a>> {
    let lane = limiters.lanes.get(&update.lane)?;
    let state = update.state.as_ref()?;
    let at = state
        .next_at
        .filter(|&at| lane.next_at.is_none_or(|before| at < before))?;
    let look = limiters.looks.get(&state.sleeps_on);
    let overslept = Overslept {
        lane,
        sleeps_on: &state.sleeps_on,
        at,
    };
    look.is_none_or(|look| look.at > at).then_some(overslept)
}
