//! Whether there is anything to do for a turn, and when there will be.

use std::collections::BTreeMap;

use warp_policy::Timestamp;
use warp_policy::admission::Fleet;
use warp_policy::ids::{JobId, WorkerId};

use super::documents::{Agenda, Peek, Presence, UnresolvedRow, WorkerRow};
use crate::model::{Dispatch, Dispatched, Resolution, Resolver, Unresolved};

/// How far the clock may step back without being noticed, as for the limiters (R49).
const CLOCK_TOLERANCE_MICROS: u64 = 1_000_000;

impl Peek {
    /// Whether there is anything to do for a turn; `None` where its worker is gone. A worker that nothing was written for takes a turn
    /// all the same once in a third of its lease, to be seen.
    pub(crate) fn calls_for_a_turn(&self, dispatch: &Dispatch, now: Timestamp) -> Option<bool> {
        let seen = self.worker.as_ref()?;
        let by_now = |at: Timestamp| at <= now;
        let agenda = &self.agenda;
        let work = agenda.ready
            || agenda.scheduled.is_some_and(by_now)
            || agenda.lanes.iter().any(|lane| by_now(lane.next_at));
        Some(
            !dispatch.finished.is_empty()
                || (dispatch.room > 0 && work)
                || agenda.look_at.is_some_and(by_now)
                || now.micros_since(seen.last_seen) >= seen.lease / 3
                || went_back(self.latest, now),
        )
    }
}

/// Whether the clock stands so far behind what it has shown that lanes may be timed by that (R66).
pub(crate) fn went_back(latest: Timestamp, now: Timestamp) -> bool {
    now.plus_micros(CLOCK_TOLERANCE_MICROS) < latest
}

pub(crate) fn nothing_to_do(peek: Peek, now: Timestamp) -> Dispatched {
    Dispatched {
        now,
        started: Vec::new(),
        refused: 0,
        failed: Vec::new(),
        stale: Vec::new(),
        left: Vec::new(),
        cancelled: peek.cancelled,
        next_at: peek.agenda.next_at(now),
    }
}

/// Runs the user's code, outside all locks (R32).
pub(crate) fn resolve(
    unresolved: Vec<UnresolvedRow>,
    resolver: &dyn Resolver,
) -> BTreeMap<JobId, Resolution> {
    let resolve = |row: UnresolvedRow| {
        let resolution = match serde_json::from_str(&row.explicit) {
            Ok(explicit) => resolver.resolve(&Unresolved {
                id: row.id,
                kind: row.kind,
                payload: row.payload,
                explicit,
            }),
            Err(error) => Resolution::Fail(format!(
                "the policies given with the job cannot be read: {error}"
            )),
        };
        (row.id, resolution)
    };
    unresolved.into_iter().map(resolve).collect()
}

impl Agenda {
    /// When a turn can find something without anything else happening.
    pub(crate) fn next_at(&self, now: Timestamp) -> Option<Timestamp> {
        let lanes = self.lanes.iter().map(|lane| lane.next_at);
        let ready = self.ready.then_some(now);
        lanes
            .chain(ready)
            .chain(self.scheduled)
            .chain(self.look_at)
            .min()
    }
}

impl Presence {
    /// Who can run what, in the eyes of `me`, who takes a turn and so is alive.
    pub(crate) fn fleet(&self, me: WorkerId, now: Timestamp) -> Fleet {
        let live = self
            .workers
            .iter()
            .filter(|row| !row.draining && (row.id == me || row.is_alive(now)));
        Fleet {
            me,
            workers: live.map(WorkerRow::server).collect(),
        }
    }

    pub(crate) fn of(&self, worker: WorkerId) -> Option<&WorkerRow> {
        self.workers.iter().find(|row| row.id == worker)
    }
}
