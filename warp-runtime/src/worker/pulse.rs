//! The regular beat of a worker: it says that it is alive, and looks after those that are not.

use std::sync::Arc;

use tokio_util::task::AbortOnDropHandle;
use warp_policy::ids::WorkerId;
use warp_storage::clock::{Clock, Sleep};
use warp_storage::model::Sweep;
use warp_storage::{Storage, StoreError};

use super::Settings;
use super::heart::Heart;
use super::lease::Lease;

/// Attempts lost with their worker after which a job fails (R84).
const MAX_LOST: u32 = 3;

/// The regular beat of a worker.
pub(super) struct Pulse {
    storage: Storage,
    clock: Arc<dyn Clock>,
    worker: WorkerId,
    lease: Lease,
    max_lost: u32,
    next: Sleep,
    _guard: AbortOnDropHandle<()>,
    _heart: Heart,
}

impl std::fmt::Debug for Pulse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pulse")
            .field("worker", &self.worker)
            .field("lease", &self.lease)
            .finish_non_exhaustive()
    }
}

impl Pulse {
    /// The pulse of a worker that has registered itself. Its jobs may be lost so often, but one that has one attempt only once.
    pub(super) fn start(storage: Storage, worker: WorkerId, settings: &Settings) -> Self {
        let clock = storage.clock();
        let lease = Lease::new(settings.lease, Arc::clone(&clock));
        let on_lease_lost = settings.on_lease_lost;
        Self {
            worker,
            max_lost: MAX_LOST.min(settings.retry.max_attempts()),
            next: clock.sleep(settings.lease / 3),
            _guard: AbortOnDropHandle::new(tokio::spawn(lease.clone().guard())),
            _heart: Heart::start(storage.clone(), worker, lease.clone(), on_lease_lost),
            lease,
            clock,
            storage,
        }
    }

    pub(super) fn lease(&self) -> &Lease {
        &self.lease
    }

    /// How often a job may be lost.
    pub(super) fn sweep(&self) -> Sweep {
        Sweep {
            max_lost: self.max_lost,
        }
    }

    /// Waits for the next beat, three of which come in each lease. Cancel safe.
    pub(super) async fn wait(&mut self) {
        (&mut self.next).await;
        self.next = self.clock.sleep(self.lease.length() / 3);
    }

    /// Renews the lease, then declares the silent dead and repairs what was lost.
    pub(super) async fn beat(&mut self) -> Result<(), StoreError> {
        let now = self.clock.now();
        self.storage.heartbeat(self.worker).await?;
        self.lease.renewed(now);
        if !self.lease.may_reclaim() {
            return Ok(());
        }
        let swept = self.storage.sweep(self.sweep()).await?;
        for (worker, jobs) in swept.dead {
            tracing::warn!(%worker, jobs, "a worker died; its jobs go back to the queue");
        }
        if swept.repaired > 0 {
            tracing::warn!(
                lanes = swept.repaired,
                "waiting jobs had missed their wake-up"
            );
        }
        Ok(())
    }
}
