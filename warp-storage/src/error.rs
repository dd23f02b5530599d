//! What a store can fail with.

use std::error::Error as StdError;

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
    /// The store could not be reached or could not do its work just now.
    #[error(transparent)]
    Unavailable {
        /// What the backend says.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The store cannot be used before somebody mends it.
    #[error(transparent)]
    Unusable {
        /// What the backend says.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The store does not keep what it was given: a value that is none of its, or one that a constraint or a trigger refuses. Nothing was
    /// changed, and the same call would be refused again.
    #[error(transparent)]
    Refused {
        /// What the backend says.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The keys of this store are hashed with another secret (R35).
    #[error(
        "fields of keys are hashed with another secret in this store: give the worker the secret that the others have. To change it, stop all workers, \
         and set `key_secret` to NULL in the row that the store keeps about itself"
    )]
    OtherKeySecret,
    /// Jobs were to be enqueued in a transaction of another kind of database. Nothing was enqueued.
    #[error(
        "the transaction is not one of {store}, in which the jobs are to be kept; nothing was enqueued"
    )]
    ForeignTransaction {
        /// The store.
        store: &'static str,
    },
}

impl StoreError {
    /// Whether the same call may succeed later (R85).
    pub const fn is_retryable(&self) -> bool {
        match self {
            Self::WorkerGone { .. }
            | Self::Unusable { .. }
            | Self::Refused { .. }
            | Self::OtherKeySecret
            | Self::ForeignTransaction { .. } => false,
            Self::Unavailable { .. } => true,
        }
    }
}
