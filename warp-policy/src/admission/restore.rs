//! After a turn: for every key, the lanes that may go next are due and all others asleep.

use std::collections::BTreeMap;

use super::YIELD_MICROS;
use super::book::Book;
use super::lanes::LaneIndex;
use super::model::Route;
use super::planner::Planner;
use super::turn::LINE_READ;
use super::yields::Yields;
use crate::time::Timestamp;

const HALF_A_READ: usize = LINE_READ / 2;

/// The lanes ahead of the one whose instant is looked for.
#[derive(Debug, Default)]
struct Ahead<'a> {
    /// How many of them keep a slot or token, besides the elder.
    counted: usize,
    /// In the eyes of each route of the line, from when on some of them no longer do.
    left: BTreeMap<&'a Route, (Yields<'a>, Vec<Timestamp>)>,
}

impl Planner {
    /// Restores the invariant of `next_at` for every key of the turn. Due lanes keep the instant since which they are due: by it others
    /// know how long they were left alone (R43).
    pub(super) fn restore_lines(&mut self) {
        let mut changes = Vec::new();
        for book in self.keys.values() {
            let mut ahead = Ahead::default();
            for &(_, index) in &book.line {
                let route = &self.lanes.get(index).route;
                ahead.left.entry(route).or_default();
            }
            for &(_, index) in &book.line {
                let next_at = match (
                    self.lanes.get(index).next_at,
                    self.next_at(book, index, &ahead),
                ) {
                    (Some(since), Some(next)) if next <= self.now && since <= self.now => {
                        Some(since)
                    }
                    (_, next) => next,
                };
                changes.push((index, next_at));
                self.pass(&mut ahead, book, index, next_at);
            }
        }
        for (index, next_at) in changes {
            self.lanes.get_mut(index).next_at = next_at;
        }
    }

    /// Goes on to the lanes behind this one.
    fn pass<'a>(
        &'a self,
        ahead: &mut Ahead<'a>,
        book: &Book,
        index: LaneIndex,
        next_at: Option<Timestamp>,
    ) {
        let lane = self.lanes.get(index);
        if !self.fleet.can_run(&lane.route) {
            return;
        }
        let is_elder = book.is_elder(lane.id);
        ahead.counted += usize::from(!is_elder);
        for (route, (yields, left)) in &mut ahead.left {
            if self.fleet.some_run_only(route, &lane.route)
                && let Some(since) = yields.add(&self.fleet, &lane.route, next_at)
                && !is_elder
            {
                let place = left.partition_point(|&other| other <= since);
                left.insert(place, since);
            }
        }
    }

    /// When a lane may go, with these lanes ahead of it; `None` where only a change of the key can help.
    fn next_at(&self, book: &Book, index: LaneIndex, ahead: &Ahead<'_>) -> Option<Timestamp> {
        let lane = self.lanes.get(index);
        let demand = lane.demand()?;
        if book.control.pause.is_some() {
            return None;
        }
        if book.is_elder(lane.id) {
            return book.when_free(demand.want, 1, self.now);
        }
        if book
            .horizon
            .is_some_and(|horizon| lane.head.is_none_or(|head| horizon < head))
        {
            return None;
        }
        let reserved = ahead.counted + usize::from(book.elder.is_some());
        // What is left to heads that others do not take is served, one such head after the other.
        let left = ahead.left.get(&lane.route).map(|(_, left)| left.as_slice());
        let left = left.unwrap_or_default().iter().copied();
        let yields = std::iter::once(self.now).chain(left).enumerate();
        let instants = yields.filter_map(|(fewer, since)| {
            let number = u32::try_from(reserved - fewer).ok()?.checked_add(1)?;
            Some(book.when_free(demand.want, number, self.now)?.max(since))
        });
        instants.min()
    }

    /// When a key must be looked at although nothing happens: its line goes on behind what was read. At once where most of that left,
    /// or where some left and the others may go. Else a second after the next of them may go: if nobody took it by then, the workers
    /// that cannot run it leave it out and read on (R43).
    ///
    /// Lanes from beyond what was read may be known too. They sleep until they are read.
    pub(super) fn look_at(&self, book: &Book) -> Option<Timestamp> {
        let horizon = book.horizon?;
        let read = || book.line.iter().take_while(|&&(head, _)| head <= horizon);
        let next_at = |&(_, index): &(_, LaneIndex)| self.lanes.get(index).next_at;
        let all_due = read().all(|lane| next_at(lane).is_some_and(|at| at <= self.now));
        match read().count() {
            0..HALF_A_READ => return Some(self.now),
            HALF_A_READ..LINE_READ if all_due => return Some(self.now),
            _ => {}
        }
        // Who was left for longer is not waited for again, but looked after now and then.
        let left = read()
            .filter_map(next_at)
            .map(|at| at.max(self.now).plus_micros(YIELD_MICROS));
        let first_left = read()
            .filter_map(next_at)
            .map(|at| at.plus_micros(YIELD_MICROS));
        first_left.filter(|&at| at > self.now).chain(left).min()
    }
}
