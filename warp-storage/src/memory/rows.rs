//! The rows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use warp_policy::admission::{Control, Demand, KeyId, Order, Route, Server, demands};
use warp_policy::ids::{ClaimId, JobId, LaneId, WorkerId};
use warp_policy::limiter::RateState;
use warp_policy::precedence::ExplicitPolicies;
use warp_policy::{Stamp, Timestamp};

use crate::model::{JobState, LogEntry, NewWorker};
use crate::stamp;

#[derive(Debug)]
pub(super) struct JobRow {
    pub(super) id: JobId,
    pub(super) route: Route,
    pub(super) payload: String,
    pub(super) priority: i32,
    pub(super) explicit: ExplicitPolicies,
    pub(super) stamp: Option<StampCell>,
    pub(super) place: Timestamp,
    pub(super) phase: Phase,
    /// Starts that count as attempts; [`starts`](Self::starts) counts all of them.
    pub(super) attempts: u32,
    pub(super) starts: u32,
    pub(super) lost: u32,
    pub(super) enqueued_at: Timestamp,
    pub(super) admitted_at: Option<Timestamp>,
    pub(super) cancelled_at: Option<Timestamp>,
    pub(super) ended_at: Option<Timestamp>,
    pub(super) error: Option<String>,
    /// The keys of which it holds a slot while it runs (R52). Its stamp does not free them: that may have been damaged meanwhile.
    pub(super) holds: Vec<KeyId>,
    pub(super) log: Vec<LogEntry>,
    pub(super) writes: u32,
}

impl JobRow {
    pub(super) fn order(&self) -> Order {
        Order::new(self.priority, self.place, self.id)
    }

    /// What it asks; `None` where it has no stamp that can be read.
    pub(super) fn demands(&self) -> Option<&Arc<[Demand]>> {
        self.stamp.as_ref()?.demands.as_ref().ok()
    }

    /// A job that is due is ready, although nobody has written so.
    pub(super) fn state(&self, now: Timestamp) -> JobState {
        match self.phase {
            Phase::Scheduled if self.place > now => JobState::Scheduled,
            Phase::Scheduled | Phase::Enqueued => JobState::Enqueued,
            Phase::Waiting(_) => JobState::Waiting,
            Phase::Processing { .. } => JobState::Processing,
            Phase::Ended(state) => state,
        }
    }
}

/// Where a job is, with what belongs to it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Scheduled,
    Enqueued,
    Waiting(LaneId),
    Processing { worker: WorkerId, claim: ClaimId },
    Ended(JobState),
}

/// A stamp as a database holds it: text, which may have been damaged.
#[derive(Debug)]
pub(super) struct StampCell {
    pub(super) stamp: Result<Stamp, String>,
    demands: Result<Arc<[Demand]>, String>,
}

impl StampCell {
    pub(super) fn new(stamp: Stamp) -> Self {
        let demands = Ok(demands(&stamp));
        Self {
            stamp: Ok(stamp),
            demands,
        }
    }

    pub(super) fn read(text: &str) -> Self {
        match stamp::read(text) {
            Ok(stamp) => Self::new(stamp),
            Err(error) => Self {
                stamp: Err(error.clone()),
                demands: Err(error),
            },
        }
    }
}

#[derive(Debug)]
pub(super) struct LaneRow {
    pub(super) route: Route,
    pub(super) keys: Vec<KeyId>,
    pub(super) sleeps_on: KeyId,
    pub(super) next_at: Option<Timestamp>,
    pub(super) refusals: u32,
    pub(super) waiters: BTreeSet<Order>,
}

#[derive(Debug, Default)]
pub(super) struct LimiterRow {
    pub(super) slots: BTreeMap<JobId, ClaimId>,
    pub(super) rate: RateState,
    pub(super) control: Control,
    pub(super) elder: Option<LaneId>,
    pub(super) look_at: Option<Timestamp>,
}

#[derive(Debug)]
pub(super) struct WorkerRow {
    pub(super) server: Server,
    /// Every queue with every kind.
    pub(super) routes: Arc<[Route]>,
    pub(super) lease: std::time::Duration,
    pub(super) last_seen: Timestamp,
    pub(super) draining: bool,
    pub(super) running: BTreeSet<JobId>,
}

impl WorkerRow {
    pub(super) fn new(id: WorkerId, worker: NewWorker, now: Timestamp) -> Self {
        let routes = worker.queues.iter().flat_map(|queue| {
            worker
                .kinds
                .iter()
                .map(|kind| Route::new(queue.clone(), kind.clone()))
        });
        Self {
            routes: routes.collect(),
            server: Server {
                id,
                queues: worker.queues,
                kinds: worker.kinds,
            },
            lease: worker.lease,
            last_seen: now,
            draining: false,
            running: BTreeSet::new(),
        }
    }

    pub(super) fn is_alive(&self, now: Timestamp) -> bool {
        now.since(self.last_seen) < self.lease
    }
}
