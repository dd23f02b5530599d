//! A worker that sleeps and wakes like the real one.

use std::collections::BTreeMap;

use warp_policy::Timestamp;
use warp_policy::ids::JobId;
use warp_storage::conformance::{Listener, TestWorker};
use warp_storage::model::Dispatched;

pub(crate) struct Worker {
    pub(crate) inner: TestWorker,
    pub(crate) kinds: Vec<&'static str>,
    pub(crate) queues: Vec<&'static str>,
    pub(crate) mood: Mood,
    /// When its handlers end.
    pub(crate) ends: BTreeMap<JobId, Timestamp>,
    pub(crate) listener: Listener,
    /// When it looks again although nothing happens.
    pub(crate) wakes_at: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    Works,
    /// It finishes what it runs.
    Drains,
    /// It is frozen, with its handlers.
    Silent,
}

impl Worker {
    pub(crate) fn has_room(&self) -> bool {
        self.inner.running.len() < self.inner.room
    }

    pub(crate) fn serves(&self, queue: &str, kind: &str) -> bool {
        self.mood != Mood::Drains && self.queues.contains(&queue) && self.kinds.contains(&kind)
    }

    /// The handlers that have ended, in the order of their ends.
    pub(crate) fn over(&self, now: Timestamp) -> Vec<JobId> {
        let mut over: Vec<_> = self.ends.iter().filter(|&(_, &at)| at <= now).collect();
        over.sort_unstable_by_key(|&(&id, &at)| (at, id));
        over.into_iter().map(|(&id, _)| id).collect()
    }

    /// Whether it takes a turn at this instant. Without room only the end of a handler wakes it.
    pub(crate) fn is_awake(&mut self, now: Timestamp) -> bool {
        match self.mood {
            Mood::Silent => false,
            _ if !self.over(now).is_empty() => true,
            Mood::Drains => self.ends.is_empty(),
            Mood::Works => {
                self.has_room()
                    && (self.wakes_at.is_some_and(|at| at <= now) || self.listener.heard())
            }
        }
    }

    /// The next instant at which it takes a turn by itself.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        let looks = self.mood == Mood::Works && self.has_room();
        let wakes_at = self.wakes_at.filter(|_| looks);
        let ends = self.ends.values().copied();
        ends.chain(wakes_at).min()
    }

    /// Goes to sleep after a turn.
    pub(crate) fn sleep(&mut self, turn: &Dispatched) {
        self.wakes_at = turn.next_at.filter(|_| self.has_room());
    }
}
