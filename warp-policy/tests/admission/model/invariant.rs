//! The invariant of `next_at`, found by trying: for every key of a turn, a lane is due at the first instant at which somebody would
//! admit its head, all else unchanged.

use std::collections::{BTreeMap, BTreeSet};

use warp_policy::Timestamp;
use warp_policy::admission::{Demand, KeyId, LINE_READ, Order, Route, Turn, Want};
use warp_policy::ids::LaneId;

use super::store::{KeyRow, LaneRow, Store};

const SECOND: u64 = 1_000_000;

/// One key after a turn.
struct Line<'a> {
    store: &'a Store,
    turn: &'a Turn,
    row: KeyRow,
    used: u32,
    /// What the turn could see of the line.
    lanes: Vec<(Order, LaneId)>,
    /// The instant of each of these lanes.
    next_at: Vec<Option<Timestamp>>,
    /// Whether some worker can run the first of two of these lanes, but not the second.
    some_run_only: BTreeMap<(usize, usize), bool>,
    /// The number of each lane's route.
    routes: Vec<usize>,
}

pub(super) fn check(
    store: &Store,
    turn: &Turn,
    before: &BTreeMap<LaneId, LaneRow>,
    new_lanes: &[LaneId],
) {
    let lines = turn.keys.values().flat_map(|state| &state.line);
    let judged = turn.lanes.iter().map(|lane| &lane.view);
    let joined = turn.candidates.iter().filter_map(|c| c.lane.as_ref());
    let known = lines.chain(judged).chain(joined).map(|view| view.id);
    let known: BTreeSet<LaneId> = known.chain(new_lanes.iter().copied()).collect();
    for (key, state) in &turn.keys {
        let mut visible = store.line(key, &|route| turn.fleet.can_run(route));
        visible.retain(|(_, id)| known.contains(id));
        let line = Line::new(store, turn, key, visible);
        let horizon = state.line.last().filter(|_| state.line_goes_on);
        let horizon = horizon.map(|lane| lane.head);
        for position in line.positions() {
            let (head, id) = line.lanes[position];
            let is_beyond = horizon.is_some_and(|horizon| horizon < head);
            let expected = if is_beyond && line.row.elder != Some(id) {
                None
            } else {
                line.first_instant(position)
            };
            line.compare(id, expected, before);
        }
        line.check_look(horizon);
        line.check_nobody_is_forgotten(key);
    }
}

impl<'a> Line<'a> {
    fn new(store: &'a Store, turn: &'a Turn, key: &KeyId, lanes: Vec<(Order, LaneId)>) -> Self {
        let rows: Vec<&LaneRow> = lanes.iter().map(|(_, id)| &store.lanes[id]).collect();
        let mut distinct: Vec<&Route> = rows.iter().map(|row| &row.route).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let pairs = distinct.iter().enumerate().flat_map(|(number, this)| {
            let others = distinct.iter().enumerate();
            others.map(move |(other, that)| ((number, other), (*this, *that)))
        });
        let fleet = &turn.fleet;
        let pairs = pairs.map(|(pair, (this, that))| (pair, fleet.some_run_only(this, that)));
        let number = |row: &&LaneRow| distinct.iter().position(|&route| *route == row.route);
        Self {
            store,
            turn,
            row: store.keys[key].clone(),
            used: store.running(key),
            next_at: rows.iter().map(|row| row.next_at).collect(),
            some_run_only: pairs.collect(),
            routes: rows.iter().filter_map(number).collect(),
            lanes,
        }
    }

    /// The positions to check: all of a short line, and some of a long one.
    fn positions(&self) -> Vec<usize> {
        let length = self.lanes.len();
        let is_checked =
            |position: &usize| length <= 16 || position.is_multiple_of(7) || *position < 4;
        (0..length).filter(is_checked).collect()
    }

    fn compare(&self, id: LaneId, expected: Option<Timestamp>, before: &BTreeMap<LaneId, LaneRow>) {
        let (now, lane) = (self.turn.now, &self.store.lanes[&id]);
        let was = before.get(&id);
        let since = was
            .filter(|was| was.sleeps_on == lane.sleeps_on)
            .and_then(|was| was.next_at)
            .filter(|&since| since <= now);
        let expected = match expected {
            Some(at) if at <= now => Some(since.unwrap_or(now)),
            other => other,
        };
        assert_eq!(
            lane.next_at, expected,
            "lane {id} sleeps on {} at {now}; before: {was:?}",
            lane.sleeps_on
        );
    }

    fn route(&self, position: usize) -> &Route {
        &self.store.lanes[&self.lanes[position].1].route
    }

    fn demand(&self, position: usize) -> &Demand {
        let (head, id) = self.lanes[position];
        let demands = &self.store.jobs[&head.id()].demands;
        let key = &self.store.lanes[&id].sleeps_on;
        let demand = demands.iter().find(|demand| demand.key == *key);
        demand.expect("a lane sleeps on one of its keys")
    }

    fn first_instant(&self, position: usize) -> Option<Timestamp> {
        if self.row.control.pause.is_some() {
            return None;
        }
        let mut instants = vec![self.turn.now];
        let left = self.next_at[..position].iter().flatten();
        instants.extend(left.map(|at| at.plus_micros(SECOND)));
        if let Want::Token(size) = self.demand(position).want {
            let size = self.row.control.rate(size);
            let number = u32::try_from(self.lanes.len() + 2).expect("a short line");
            let tokens = 1..=size.count.min(number);
            let rate = &self.row.rate;
            instants.extend(tokens.filter_map(|n| rate.available_at(size, n, self.turn.now)));
        }
        instants.retain(|&instant| instant >= self.turn.now);
        instants.sort_unstable();
        instants.dedup();
        let first = instants.into_iter().find(|&at| self.admits(position, at))?;
        let before = first.minus_micros(1);
        let is_first = before < self.turn.now || !self.admits(position, before);
        assert!(is_first, "an instant between those that were tried");
        Some(first)
    }

    /// Whether somebody would admit the head of a lane at an instant, going by this key alone.
    fn admits(&self, position: usize, at: Timestamp) -> bool {
        let free = self.free(position, at);
        let elder = self.row.elder;
        if elder == Some(self.lanes[position].1) {
            return free > 0;
        }
        let given_up = self.given_up(position, at);
        let ahead = (0..position)
            .filter(|&before| !given_up[before] && elder != Some(self.lanes[before].1))
            .count();
        free > ahead + usize::from(elder.is_some())
    }

    fn free(&self, position: usize, at: Timestamp) -> usize {
        let free = match self.demand(position).want {
            Want::Slot { limit } => self.row.control.limit(limit).saturating_sub(self.used),
            Want::Token(size) => self.row.rate.available(self.row.control.rate(size), at),
            want => panic!("{want:?}"),
        };
        free as usize
    }

    /// Which lanes ahead no longer hold up those who can run this lane, but not them (R43).
    fn given_up(&self, position: usize, at: Timestamp) -> Vec<bool> {
        let runs_only =
            |this: usize, that: usize| self.some_run_only[&(self.routes[this], self.routes[that])];
        let is_late = |since: Timestamp| since.plus_micros(SECOND) <= at;
        let mut given_up: Vec<bool> = Vec::new();
        for before in 0..position {
            let stands_behind_one =
                || (0..before).any(|other| given_up[other] && !runs_only(before, other));
            let is_given_up = runs_only(position, before)
                && (self.next_at[before].is_some_and(is_late) || stands_behind_one());
            given_up.push(is_given_up);
        }
        given_up
    }

    /// A line that goes on is looked at again where all that was read of it may go, or most of it went.
    fn check_look(&self, horizon: Option<Order>) {
        let Some(horizon) = horizon else { return };
        let (now, look_at) = (self.turn.now, self.row.look_at);
        let is_due = |next_at: &Option<Timestamp>| next_at.is_some_and(|at| at <= now);
        let heads = self.lanes.iter().map(|&(head, _)| head);
        let read = heads.take_while(|&head| head <= horizon).count();
        if self.next_at[..read].iter().all(is_due) {
            let in_time = look_at.is_some_and(|at| at <= now.plus_micros(SECOND));
            assert!(in_time, "all of it may go");
        }
        if read < LINE_READ / 2 {
            assert_eq!(look_at, Some(now), "most of it went");
        }
    }

    /// R44: among the first of a line, seen or not, nobody sleeps who could go, but where the key is looked at. (A lane left out of what
    /// was read stands behind a due one of its own route; whoever takes that one wakes it.)
    fn check_nobody_is_forgotten(&self, key: &KeyId) {
        let fleet = &self.turn.fleet;
        let whole = Self::new(
            self.store,
            self.turn,
            key,
            self.store.line(key, &|route| fleet.can_run(route)),
        );
        let is_paused = whole.row.control.pause.is_some();
        if is_paused || whole.row.look_at.is_some() {
            return;
        }
        for position in 0..whole.lanes.len().min(LINE_READ / 2) {
            let ahead = position + usize::from(whole.row.elder.is_some());
            let could_go = whole.free(position, self.turn.now) > ahead;
            let is_asleep = whole.next_at[position].is_none();
            let is_left_out = self.store.leaves_out && !fleet.i_can_run(whole.route(position));
            let stands_behind_a_due_one = is_left_out
                && (0..position).any(|before| {
                    whole.routes[before] == whole.routes[position]
                        && whole.next_at[before].is_some_and(|at| at <= self.turn.now)
                });
            assert!(
                !(could_go && is_asleep && !stands_behind_a_due_one),
                "{key} forgets number {position} of its line"
            );
        }
    }
}
