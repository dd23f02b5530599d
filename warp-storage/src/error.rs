//! What a store can fail with.

use thiserror::Error;
use warp_policy::ids::WorkerId;

/// What a store can fail with.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The worker was declared dead, or never registered. Its jobs are others' now; it must stop (R80).
    #[error(
        "worker {worker} is not registered: it was silent for its lease and was declared dead, or has stopped"
    )]
    WorkerGone {
        /// The worker.
        worker: WorkerId,
    },
}

impl StoreError {
    /// Whether the same call may succeed later (R85).
    pub const fn is_retryable(&self) -> bool {
        match self {
            Self::WorkerGone { .. } => false,
        }
    }
}
