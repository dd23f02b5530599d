//! One key during a turn.

use std::collections::BTreeSet;

use super::lanes::LaneIndex;
use super::model::{Order, Want};
use super::turn::{Control, Elder, KeyState};
use crate::ids::LaneId;
use crate::limiter::{RateState, free_slots};
use crate::time::Timestamp;

/// What a key has, who sleeps on it, and what changed.
#[derive(Debug)]
pub(super) struct Book {
    pub(super) control: Control,
    pub(super) elder: Option<Elder>,
    /// The lanes that sleep on this key, by their heads.
    pub(super) line: BTreeSet<(Order, LaneIndex)>,
    /// Where the part of the line ends that was read; beyond it stand lanes that the planner does not see.
    pub(super) horizon: Option<Order>,
    used: u32,
    rate: RateState,
    rate_changed: bool,
}

impl Book {
    pub(super) fn new(state: &KeyState, now: Timestamp) -> Self {
        let mut rate = state.rate.clone();
        let rate_changed = rate.settle(now);
        Self {
            control: state.control,
            elder: state.elder.clone(),
            line: BTreeSet::new(),
            horizon: state
                .line
                .last()
                .filter(|_| state.line_goes_on)
                .map(|lane| lane.head),
            used: state.used,
            rate,
            rate_changed,
        }
    }

    /// The earliest instant at which a start can be booked here: now, but never before the last one (R49).
    pub(super) fn earliest(&self, now: Timestamp) -> Timestamp {
        self.rate.last_start().map_or(now, |last| last.max(now))
    }

    /// What is in force where a stamp says `want`.
    pub(super) fn size(&self, want: Want) -> Want {
        match want {
            Want::Slot { limit } => Want::Slot {
                limit: self.control.limit(limit),
            },
            Want::Token(size) => Want::Token(self.control.rate(size)),
        }
    }

    /// Whether a slot or token is kept for this lane (R46).
    pub(super) fn is_elder(&self, lane: Option<LaneId>) -> bool {
        let elder = self.elder.as_ref().map(|elder| elder.lane);
        elder.is_some() && elder == lane
    }

    /// Slots in use, or starts that count, in the eyes of `want`.
    pub(super) fn used(&self, want: Want, at: Timestamp) -> u32 {
        match self.size(want) {
            Want::Slot { .. } => self.used,
            Want::Token(size) => self.rate.used(size, at),
        }
    }

    /// Slots or tokens that are free at `at`.
    pub(super) fn free(&self, want: Want, at: Timestamp) -> u32 {
        match self.size(want) {
            Want::Slot { limit } => free_slots(limit, self.used),
            Want::Token(size) => self.rate.available(size, at),
        }
    }

    /// When `number` slots or tokens are free at once if nothing else happens; `None` if that takes a release.
    pub(super) fn when_free(&self, want: Want, number: u32, now: Timestamp) -> Option<Timestamp> {
        match self.size(want) {
            Want::Slot { limit } => (free_slots(limit, self.used) >= number).then_some(now),
            Want::Token(size) => {
                let earliest = self.earliest(now);
                let at = self.rate.available_at(size, number, earliest)?;
                // What is free at the earliest instant can start now, and is booked then.
                Some(if at <= earliest { now } else { at })
            }
        }
    }

    /// Takes a slot, or spends a token.
    pub(super) fn take(&mut self, want: Want, at: Timestamp) {
        match self.size(want) {
            Want::Slot { .. } => self.used += 1,
            Want::Token(size) => {
                self.rate.book(size, at);
                self.rate_changed = true;
            }
        }
    }

    /// The known starts, where they changed.
    pub(super) fn changed_rate(&mut self) -> Option<RateState> {
        self.rate_changed.then(|| std::mem::take(&mut self.rate))
    }
}
