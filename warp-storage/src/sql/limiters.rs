//! The keys of a turn, each with its line.

use std::collections::BTreeMap;

use warp_policy::Timestamp;
use warp_policy::admission::{
    Control, Elder, Fleet, KeyId, KeyState, LINE_READ, Route, YIELD_MICROS,
};
use warp_policy::ids::{LaneId, WorkerId};
use warp_policy::limiter::RateState;

use super::documents::{ElderLane, Keys, LaneRow, LimiterRow, order};
use super::judging::Judging;

/// What was read of the keys of a turn.
#[derive(Debug, Default)]
pub(crate) struct Limiters {
    pub(crate) states: BTreeMap<KeyId, KeyState>,
    /// The keys that ask to be looked at.
    pub(crate) looks: BTreeMap<KeyId, Look>,
    /// The lanes of their lines.
    pub(crate) lanes: BTreeMap<LaneId, LaneRow>,
}

/// When a key asks to be looked at, with the elder on its row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) at: Timestamp,
    elder: Option<LaneId>,
}

impl Limiters {
    /// The keys that asked to be looked at by now, with their elders.
    pub(crate) fn looked_at(&self, now: Timestamp) -> BTreeMap<KeyId, Option<LaneId>> {
        let by_now = self.looks.iter().filter(|(_, look)| look.at <= now);
        by_now
            .map(|(key, look)| (key.clone(), look.elder))
            .collect()
    }
}

/// Who asks, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asking<'a> {
    pub(crate) fleet: &'a Fleet,
    pub(crate) now: Timestamp,
}

impl Asking<'_> {
    /// The states of the keys that were asked for, or why they cannot be told. Jobs at the head of lanes that cannot be judged are noted.
    pub(crate) fn limiters(
        &self,
        asked: &[KeyId],
        document: Keys,
        judging: &mut Judging,
    ) -> Result<Limiters, String> {
        let mut limiters = Limiters::default();
        let mut lines: Vec<Vec<LaneRow>> = vec![Vec::new(); asked.len()];
        for lane in document.line {
            if let Some(line) = lines.get_mut(lane.number) {
                line.push(lane.lane);
            }
        }
        let mut rows: BTreeMap<usize, LimiterRow> = document
            .limiters
            .into_iter()
            .map(|row| (row.number, row))
            .collect();
        let used: BTreeMap<usize, u32> = document
            .used
            .into_iter()
            .map(|used| (used.number, used.slots))
            .collect();
        for ((number, key), line) in asked.iter().enumerate().zip(lines) {
            let (line, line_goes_on) = self.first_of_line(line);
            let mut views = Vec::with_capacity(line.len());
            for lane in line {
                views.extend(judging.view(&lane));
                limiters.lanes.insert(lane.id, lane);
            }
            let row = rows.remove(&number);
            let elder = row.as_ref().and_then(|row| row.elder);
            if let Some(at) = row.as_ref().and_then(|row| row.look_at) {
                limiters.looks.insert(key.clone(), Look { at, elder });
            }
            let (rate, elder_lane) = row.map_or((None, None), |row| (row.rate, row.elder_lane));
            let state = KeyState {
                used: used.get(&number).copied().unwrap_or(0),
                rate: rate.map_or(Ok(RateState::default()), |text| read_rate(key, &text))?,
                control: Control::default(),
                elder: elder.zip(elder_lane).map(|(lane, row)| elder_of(lane, row)),
                line: views,
                line_goes_on,
            };
            limiters.states.insert(key.clone(), state);
        }
        Ok(limiters)
    }

    /// The first lanes of a line that a live worker can run, by their heads, and whether there are more.
    fn first_of_line(&self, lanes: Vec<LaneRow>) -> (Vec<LaneRow>, bool) {
        let mut routes: BTreeMap<Route, Vec<LaneRow>> = BTreeMap::new();
        for lane in lanes {
            routes
                .entry(lane.route.clone().into())
                .or_default()
                .push(lane);
        }
        routes.retain(|route, _| self.fleet.can_run(route));
        if routes.values().map(Vec::len).sum::<usize>() > LINE_READ {
            routes.retain(|route, lanes| !self.was_left(route, lanes));
        }
        let mut line: Vec<LaneRow> = routes.into_values().flatten().collect();
        line.sort_unstable_by_key(LaneRow::order);
        let goes_on = line.len() > LINE_READ;
        line.truncate(LINE_READ);
        (line, goes_on)
    }

    /// Whether the lanes of a route were left to other workers for a second. They hold up this one no more, and must not fill what it
    /// reads of a long line. Those who can run them read them, since the first one is due.
    fn was_left(&self, route: &Route, lanes: &[LaneRow]) -> bool {
        let is_worker = self
            .fleet
            .workers
            .iter()
            .any(|worker| worker.id == self.fleet.me);
        let first = lanes.iter().min_by_key(|lane| lane.order());
        let due = first.and_then(|lane| lane.next_at);
        is_worker
            && !self.fleet.i_can_run(route)
            && due.is_some_and(|due| due.plus_micros(YIELD_MICROS) <= self.now)
    }
}

/// Nobody's eyes, for those who restore lines without a turn.
pub(crate) const NOBODY: WorkerId = WorkerId::new(0);

/// The known starts of a key.
pub(crate) fn read_rate(key: &KeyId, text: &str) -> Result<RateState, String> {
    serde_json::from_str(text).map_err(|error| format!("the known starts of {key}: {error}"))
}

fn elder_of(lane: LaneId, row: ElderLane) -> Elder {
    Elder {
        lane,
        head: order(row.rank, row.place, row.head),
        route: row.route.into(),
    }
}
