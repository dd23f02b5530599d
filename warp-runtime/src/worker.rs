//! Workers: what takes jobs from a store and runs them.

mod builder;
mod dispatch;
mod heart;
mod lease;
mod on_lease_lost;
mod pulse;
mod read_back;
mod refused;
mod running;
mod shutdown;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use warp_storage::{Storage, StoreError};

pub use self::builder::{BuildError, WorkerBuilder};
use self::dispatch::Dispatcher;
pub use self::on_lease_lost::{LEASE_LOST_STATUS, OnLeaseLost};
use crate::handlers::Handlers;
use crate::registry::registry;
use crate::retry::Retry;

/// Takes jobs from a store and runs them under their policies.
///
/// One task dispatches; each handler runs as a task of its own beside it. Nothing is polled for: the dispatcher sleeps until a job is
/// enqueued, a handler ends, or an instant comes at which a waiting job may start (R44).
#[derive(Debug)]
pub struct Worker {
    storage: Storage,
    handlers: Arc<Handlers>,
    settings: Settings,
}

/// What a builder leaves to the dispatcher.
#[derive(Clone, Debug)]
struct Settings {
    name: String,
    queues: BTreeSet<Arc<str>>,
    concurrency: usize,
    retry: Retry,
    lease: Duration,
    grace: Duration,
    on_lease_lost: OnLeaseLost,
}

/// Why a worker ended.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// The store refused the worker at its start.
    #[error("the worker could not register itself in the store")]
    Register(#[source] StoreError),
    /// The last results could not be written.
    #[error("the worker stopped, but the store did not take its last results")]
    Stop(#[source] StoreError),
}

impl Worker {
    /// A worker on this store; add its handlers.
    pub fn builder(storage: impl Into<Storage>) -> WorkerBuilder {
        WorkerBuilder::new(storage.into())
    }

    /// Runs until `shutdown` ends. Then nothing new is claimed, the handlers may finish within the grace time, and what is left after it
    /// is cancelled and returned to the queue, which is no attempt (R83).
    ///
    /// # Errors
    /// [`WorkerError::Register`], [`WorkerError::Stop`]. Errors of the store while the worker runs are retried with back-off and a
    /// warning (R85).
    ///
    /// # Cancel safety
    /// Dropping the future aborts the handlers. Their jobs are lost attempts: another worker takes them once the lease has run out.
    pub async fn run_until(self, shutdown: impl Future<Output = ()>) -> Result<(), WorkerError> {
        for conflict in registry().conflicts() {
            tracing::warn!("{conflict}");
        }
        for contract in registry().unhandled(self.handlers.used()) {
            tracing::debug!("this worker has no handler for `{contract}`, which has a policy");
        }
        Dispatcher::register(self).await?.run(shutdown).await
    }
}
