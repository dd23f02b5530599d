//! One job against all its keys at once (R40, R41).

use super::book::Book;
use super::lanes::LaneIndex;
use super::model::Demand;
use super::plan::{Cause, Refusal};
use super::planner::Planner;
use super::turn::{Pause, Waiter};
use super::yields::Yields;
use crate::mode::Mode;
use crate::time::Timestamp;

/// What becomes of a job. Nothing is taken or spent yet.
#[derive(Debug)]
pub(super) enum Verdict {
    /// Every key admits it, at this instant (R49).
    Start(Timestamp),
    /// A key refuses it, and its policy there waits.
    Wait(Refusal),
    /// A key refuses it, and its policy there skips.
    Skip(Refusal),
    /// Nothing: one of its keys is not part of the turn.
    Untouched,
}

impl Planner {
    /// Judges a job that belongs to `lane` (as its head, or as a newcomer) in the order of its policies: the first that refuses decides.
    pub(super) fn judge(&self, waiter: &Waiter, lane: Option<LaneIndex>) -> Verdict {
        let demands = waiter.demands.iter();
        let books: Option<Vec<_>> = demands
            .map(|demand| Some((demand, self.keys.get(&demand.key)?)))
            .collect();
        let Some(books) = books else {
            return Verdict::Untouched;
        };
        let earliest = books.iter().map(|(_, book)| book.earliest(self.now));
        let at = earliest.max().unwrap_or(self.now);
        for (demand, book) in books {
            let skips = demand.mode == Mode::Skip && waiter.first_start;
            let Some(cause) = self.obstacle(waiter, lane, demand, book, skips, at) else {
                continue;
            };
            let held = cause == Cause::Paused && book.control.pause == Some(Pause::Hold);
            let refusal = Refusal {
                key: demand.key.clone(),
                size: book.size(demand.want),
                used: book.used(demand.want, at),
                cause,
            };
            return if skips && !held {
                Verdict::Skip(refusal)
            } else {
                Verdict::Wait(refusal)
            };
        }
        Verdict::Start(at)
    }

    fn obstacle(
        &self,
        waiter: &Waiter,
        lane: Option<LaneIndex>,
        demand: &Demand,
        book: &Book,
        skips: bool,
        at: Timestamp,
    ) -> Option<Cause> {
        if book.control.pause.is_some() {
            return Some(Cause::Paused);
        }
        let free = book.free(demand.want, at);
        if free == 0 {
            return Some(Cause::Full);
        }
        let behind_own_lane = lane.is_some_and(|lane| {
            let lane = self.lanes.get(lane);
            lane.sleeps_on == demand.key && lane.head.is_some_and(|head| head < waiter.order)
        });
        // For a new skip-mode job a key with waiters counts as full, unless nobody can run any of them. One that was held in line is a
        // waiter itself: those behind it do not turn it away.
        let has_waiters = skips
            && !self.is_head(waiter, lane)
            && book.line.iter().any(|&(_, other)| self.is_runnable(other));
        if behind_own_lane || has_waiters || free <= self.ahead(waiter, lane, book) {
            return Some(Cause::Line);
        }
        None
    }

    /// How many slots or tokens belong to others: one for each lane ahead in the line, and one for the elder (R43, R46).
    fn ahead(&self, waiter: &Waiter, lane: Option<LaneIndex>, book: &Book) -> u32 {
        let is_elder = |lane: LaneIndex| book.is_elder(self.lanes.get(lane).id);
        // What is kept for the elder is for the head of its lane, not for those who would join it.
        if self.is_head(waiter, lane) && lane.is_some_and(is_elder) {
            return 0;
        }
        if book.horizon.is_some_and(|horizon| horizon < waiter.order) {
            return u32::MAX;
        }
        let mut yields = Yields::default();
        let lanes = book
            .line
            .iter()
            .take_while(|&&(head, _)| head < waiter.order);
        let counted = lanes.filter(|&&(_, other)| {
            self.is_runnable(other) && !self.is_given_up(other, &mut yields) && !is_elder(other)
        });
        u32::try_from(counted.count())
            .unwrap_or(u32::MAX)
            .saturating_add(u32::from(book.elder.is_some()))
    }

    /// Whether a lane, the next one in a line, keeps no slot or token from this worker: it had been left to others long enough (R43).
    fn is_given_up<'a>(&'a self, other: LaneIndex, yields: &mut Yields<'a>) -> bool {
        let lane = self.lanes.get(other);
        !self.fleet.i_can_run(&lane.route)
            && yields
                .add(&self.fleet, &lane.route, lane.next_at)
                .is_some_and(|since| since <= self.now)
    }

    fn is_head(&self, waiter: &Waiter, lane: Option<LaneIndex>) -> bool {
        lane.is_some_and(|lane| self.lanes.get(lane).head == Some(waiter.order))
    }

    fn is_runnable(&self, lane: LaneIndex) -> bool {
        self.fleet.can_run(&self.lanes.get(lane).route)
    }
}
