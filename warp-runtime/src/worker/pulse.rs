//! The regular beat of a worker: it says that it is alive, and looks after those that are not.

use std::sync::Arc;
use std::time::Duration;

use warp_policy::Timestamp;
use warp_policy::ids::WorkerId;
use warp_storage::clock::{Clock, Sleep};
use warp_storage::model::Sweep;
use warp_storage::{Storage, StoreError};

/// Attempts lost with their worker after which a job fails (R84).
const MAX_LOST: u32 = 3;

/// The regular beat of a worker.
pub(super) struct Pulse {
    storage: Storage,
    clock: Arc<dyn Clock>,
    worker: WorkerId,
    lease: Duration,
    max_lost: u32,
    renewed_at: Timestamp,
    sweeps_from: Timestamp,
    next: Sleep,
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
    /// A pulse for a worker whose jobs have so many attempts; a job with one attempt may be lost once.
    pub(super) fn new(
        storage: Storage,
        worker: WorkerId,
        lease: Duration,
        max_attempts: u32,
    ) -> Self {
        let clock = storage.clock();
        let now = clock.now();
        let next = clock.sleep(lease / 3);
        let max_lost = MAX_LOST.min(max_attempts);
        Self {
            storage,
            clock,
            worker,
            lease,
            max_lost,
            renewed_at: now,
            sweeps_from: now.plus(lease),
            next,
        }
    }

    /// Waits for the next beat, three of which come in each lease. Cancel safe.
    pub(super) async fn wait(&mut self) {
        (&mut self.next).await;
        self.next = self.clock.sleep(self.lease / 3);
    }

    /// Renews the lease, then declares the silent dead and repairs what was lost.
    ///
    /// A worker that could not renew for half a lease was held up, and so may have been the others: it reclaims nobody before one more
    /// lease has passed (R86). Nor does a new one, which cannot know.
    pub(super) async fn beat(&mut self) -> Result<(), StoreError> {
        self.storage.heartbeat(self.worker).await?;
        let now = self.clock.now();
        let was_held_up = now.since(self.renewed_at) > self.lease / 2;
        self.renewed_at = now;
        if was_held_up {
            self.sweeps_from = now.plus(self.lease);
        }
        if now < self.sweeps_from {
            return Ok(());
        }
        let swept = self
            .storage
            .sweep(Sweep {
                max_lost: self.max_lost,
            })
            .await?;
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
