//! One job against all its keys at once (R40, R41).

use super::YIELD_MICROS;
use super::book::Book;
use super::lanes::LaneIndex;
use super::model::Demand;
use super::plan::{Cause, Refusal};
use super::planner::Planner;
use super::turn::{Pause, Waiter};
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
}

impl Planner {
    /// Judges a job that belongs to `lane` (as its head, or as a newcomer) in the order of its policies: the first that refuses decides.
    pub(super) fn judge(&self, waiter: &Waiter, lane: Option<LaneIndex>) -> Verdict {
        let books = || {
            waiter
                .demands
                .iter()
                .filter_map(|demand| Some((demand, self.keys.get(&demand.key)?)))
        };
        let at = books()
            .map(|(_, book)| book.earliest(self.now))
            .max()
            .unwrap_or(self.now);
        for (demand, book) in books() {
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
        // For a skip-mode job a key with waiters counts as full, unless nobody can run any of them.
        let has_waiters = skips
            && book
                .line
                .iter()
                .any(|&(_, other)| self.stands_in_line(lane, other));
        if behind_own_lane || has_waiters || free <= self.ahead(waiter, lane, book) {
            return Some(Cause::Line);
        }
        None
    }

    /// How many slots or tokens belong to others: one for each lane ahead in the line, and one for the elder (R43, R46).
    fn ahead(&self, waiter: &Waiter, lane: Option<LaneIndex>, book: &Book) -> u32 {
        let elder = book
            .elder
            .as_ref()
            .map(|elder| self.lanes.index_of(elder.lane));
        if elder.is_some_and(|elder| elder.is_some() && elder == lane) {
            return 0;
        }
        if book.horizon.is_some_and(|horizon| horizon < waiter.order) {
            return u32::MAX;
        }
        let lanes = book
            .line
            .iter()
            .take_while(|&&(head, _)| head < waiter.order);
        let counted =
            lanes.filter(|&&(_, other)| Some(Some(other)) != elder && self.counts(lane, other));
        u32::try_from(counted.count())
            .unwrap_or(u32::MAX)
            .saturating_add(u32::from(elder.is_some()))
    }

    /// Whether a lane keeps a slot or token from this worker: not when it had been left to others for a second (R43).
    fn counts(&self, own: Option<LaneIndex>, other: LaneIndex) -> bool {
        let lane = self.lanes.get(other);
        let was_left = lane
            .next_at
            .is_some_and(|due| due.plus_micros(YIELD_MICROS) <= self.now);
        self.stands_in_line(own, other) && !(was_left && !self.fleet.i_can_run(&lane.route))
    }

    fn stands_in_line(&self, own: Option<LaneIndex>, other: LaneIndex) -> bool {
        own != Some(other) && self.fleet.can_run(&self.lanes.get(other).route)
    }
}
