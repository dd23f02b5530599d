//! After a turn: for every key, the lanes that may go next are due and all others asleep.

use super::YIELD_MICROS;
use super::book::Book;
use super::lanes::LaneIndex;
use super::planner::Planner;
use crate::time::Timestamp;

impl Planner {
    /// Restores the invariant of `next_at` for every key of the turn. Due lanes keep the instant since which they are due: by it others
    /// know how long they were left alone (R43).
    pub(super) fn restore_lines(&mut self) {
        let mut changes = Vec::new();
        for book in self.keys.values() {
            let mut ahead: Vec<(LaneIndex, Option<Timestamp>)> = Vec::new();
            for &(_, index) in &book.line {
                let lane = self.lanes.get(index);
                let next_at = match (lane.next_at, self.next_at(book, index, &ahead)) {
                    (Some(since), Some(next)) if next <= self.now && since <= self.now => {
                        Some(since)
                    }
                    (_, next) => next,
                };
                changes.push((index, next_at));
                if self.fleet.can_run(&lane.route) {
                    ahead.push((index, next_at));
                }
            }
        }
        for (index, next_at) in changes {
            self.lanes.get_mut(index).next_at = next_at;
        }
    }

    /// When a lane may go, with these lanes ahead of it; `None` where only a change of the key can help.
    fn next_at(
        &self,
        book: &Book,
        index: LaneIndex,
        ahead: &[(LaneIndex, Option<Timestamp>)],
    ) -> Option<Timestamp> {
        let lane = self.lanes.get(index);
        let demand = lane.demand()?;
        if book.control.pause.is_some() {
            return None;
        }
        let elder = book
            .elder
            .as_ref()
            .map(|elder| self.lanes.index_of(elder.lane));
        if elder == Some(Some(index)) {
            return book.when_free(demand.want, 1, self.now);
        }
        if book
            .horizon
            .is_some_and(|horizon| lane.head.is_none_or(|head| horizon < head))
        {
            return None;
        }
        let others: Vec<_> = ahead
            .iter()
            .filter(|&&(other, _)| Some(Some(other)) != elder)
            .collect();
        let reserved = others.len() + usize::from(elder.is_some());
        // What is left to a head that others do not take is served a second after it became due, one such head after the other.
        let mut left: Vec<Timestamp> = others
            .iter()
            .filter(|&&&(other, _)| {
                self.fleet
                    .some_run_only(&lane.route, &self.lanes.get(other).route)
            })
            .filter_map(|&&(_, next_at)| Some(next_at?.plus_micros(YIELD_MICROS)))
            .collect();
        left.sort_unstable();
        let yields = std::iter::once(self.now).chain(left).enumerate();
        let instants = yields.filter_map(|(fewer, since)| {
            let number = u32::try_from(reserved - fewer).ok()?.checked_add(1)?;
            Some(book.when_free(demand.want, number, self.now)?.max(since))
        });
        instants.min()
    }

    /// When a key must be looked at although nothing happens: all that was read of its line is due, and the line goes on.
    pub(super) fn look_at(&self, book: &Book) -> Option<Timestamp> {
        book.horizon?;
        let is_due = |&(_, index): &(_, LaneIndex)| {
            self.lanes
                .get(index)
                .next_at
                .is_some_and(|at| at <= self.now)
        };
        if !book.line.iter().all(is_due) {
            return None;
        }
        Some(if book.line_moved {
            self.now
        } else {
            self.now.plus_micros(YIELD_MICROS)
        })
    }
}
