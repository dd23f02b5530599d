//! Which workers can run what.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::model::Route;
use crate::ids::WorkerId;

/// The live, not draining workers, as seen by the one whose turn it is (R27, R43).
#[derive(Clone, Debug)]
pub struct Fleet {
    /// The worker whose turn it is.
    pub me: WorkerId,
    /// Every live worker; `me` is among them unless it is draining.
    pub workers: Vec<Server>,
}

/// What one worker serves.
#[derive(Clone, Debug)]
pub struct Server {
    /// The worker.
    pub id: WorkerId,
    /// The queues it registered.
    pub queues: BTreeSet<Arc<str>>,
    /// The kinds it registered.
    pub kinds: BTreeSet<Arc<str>>,
}

impl Server {
    /// Whether this worker can run jobs of `route`.
    pub fn serves(&self, route: &Route) -> bool {
        self.queues.contains(&route.queue) && self.kinds.contains(&route.kind)
    }
}

impl Fleet {
    /// Whether any live worker can run jobs of `route`.
    pub fn can_run(&self, route: &Route) -> bool {
        self.workers.iter().any(|worker| worker.serves(route))
    }

    /// Whether the worker whose turn it is can run jobs of `route`.
    pub fn i_can_run(&self, route: &Route) -> bool {
        self.workers
            .iter()
            .any(|worker| worker.id == self.me && worker.serves(route))
    }

    /// Whether some live worker can run `this` but not `that`: it would wait for others' work.
    pub fn some_run_only(&self, this: &Route, that: &Route) -> bool {
        this != that
            && self
                .workers
                .iter()
                .any(|worker| worker.serves(this) && !worker.serves(that))
    }
}
