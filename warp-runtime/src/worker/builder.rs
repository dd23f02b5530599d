//! Putting a worker together.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use warp_storage::Storage;

use super::{OnLeaseLost, Settings, Worker};
use crate::contract::Job;
use crate::handler::JobHandler;
use crate::handlers::Handlers;
use crate::job_parameters::DEFAULT_QUEUE;
use crate::key_secret::KeySecret;
use crate::registry::{RegistryErrors, registry};
use crate::retry::Retry;

/// The shortest lease; a worker heartbeats three times in each.
const MIN_LEASE: Duration = Duration::from_millis(300);

/// Puts a worker together.
#[derive(Debug)]
pub struct WorkerBuilder {
    storage: Storage,
    handlers: Handlers,
    queues: BTreeSet<Arc<str>>,
    name: String,
    concurrency: usize,
    retry: Retry,
    lease: Duration,
    grace: Duration,
    on_lease_lost: OnLeaseLost,
}

/// Why a worker cannot be built.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// There is nothing it could run.
    #[error("a worker needs a handler: add one with `.handler::<MyJob, _>(my_handler)`")]
    NoHandler,
    /// It would never start anything.
    #[error("a worker's concurrency must be at least 1")]
    NoConcurrency,
    /// It could not renew its lease in time.
    #[error("a worker's lease must be at least {MIN_LEASE:?}, and is {lease:?}")]
    LeaseTooShort {
        /// What was asked for.
        lease: Duration,
    },
    /// Keys of its jobs hash fields, and it has no secret to do it with (R30).
    #[error(
        "a worker needs a secret for keys that hash fields; give it one with `.key_secret(…)`: {}",
        keys.join(", ")
    )]
    NoKeySecret {
        /// The keys as declared, with their places.
        keys: Vec<String>,
    },
    /// The declarations of the program cannot be relied on (R5, R7).
    #[error(transparent)]
    Registry(#[from] RegistryErrors),
}

impl WorkerBuilder {
    pub(super) fn new(storage: Storage) -> Self {
        Self {
            storage,
            handlers: Handlers::default(),
            queues: BTreeSet::new(),
            name: format!("worker-{}", std::process::id()),
            concurrency: 10,
            retry: Retry::default(),
            lease: Duration::from_secs(30),
            grace: Duration::from_secs(30),
            on_lease_lost: OnLeaseLost::default(),
        }
    }

    /// Runs jobs `J` by `handler`. A later handler for the same job replaces an earlier one.
    #[must_use]
    pub fn handler<J: Job, H: JobHandler<J>>(mut self, handler: H) -> Self {
        self.handlers.add::<J, H>(handler);
        self
    }

    /// Hashes the `{field|hash}` of keys with this secret, the same for all workers of a store (R30).
    #[must_use]
    pub fn key_secret(mut self, secret: KeySecret) -> Self {
        self.handlers.key_secret = Some(secret);
        self
    }

    /// Serves this queue, beside others that are named. Without any: `default`.
    #[must_use]
    pub fn queue(mut self, queue: impl Into<Arc<str>>) -> Self {
        self.queues.insert(queue.into());
        self
    }

    /// How many handlers run at once. Default 10.
    #[must_use]
    pub fn concurrency(self, concurrency: usize) -> Self {
        Self {
            concurrency,
            ..self
        }
    }

    /// How failed attempts are repeated. Default: [`Retry::default`].
    #[must_use]
    pub fn retry(self, retry: Retry) -> Self {
        Self { retry, ..self }
    }

    /// After so long a silence the worker counts as dead and its jobs go to others (R80). Default 30 s, at least 300 ms.
    #[must_use]
    pub fn lease(self, lease: Duration) -> Self {
        Self { lease, ..self }
    }

    /// How long handlers may go on after a shutdown began (R83). Default 30 s.
    #[must_use]
    pub fn grace(self, grace: Duration) -> Self {
        Self { grace, ..self }
    }

    /// What becomes of handlers that outlive the lease (R81). Default: [`OnLeaseLost::Fence`].
    #[must_use]
    pub fn on_lease_lost(self, on_lease_lost: OnLeaseLost) -> Self {
        Self {
            on_lease_lost,
            ..self
        }
    }

    /// A name for people. Default: `worker-` and the process id.
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..self
        }
    }

    /// The worker.
    ///
    /// # Errors
    /// See [`BuildError`].
    pub fn build(mut self) -> Result<Worker, BuildError> {
        if self.handlers.used().is_empty() {
            return Err(BuildError::NoHandler);
        }
        if self.concurrency == 0 {
            return Err(BuildError::NoConcurrency);
        }
        if self.lease < MIN_LEASE {
            return Err(BuildError::LeaseTooShort { lease: self.lease });
        }
        registry().verify_used(self.handlers.used())?;
        let keys = self.handlers.hashed_keys();
        if self.handlers.key_secret.is_none() && !keys.is_empty() {
            return Err(BuildError::NoKeySecret { keys });
        }
        if self.queues.is_empty() {
            self.queues.insert(DEFAULT_QUEUE.into());
        }
        let settings = Settings {
            name: self.name,
            queues: self.queues,
            concurrency: self.concurrency,
            retry: self.retry,
            lease: self.lease,
            grace: self.grace,
            on_lease_lost: self.on_lease_lost,
        };
        Ok(Worker {
            storage: self.storage,
            handlers: Arc::new(self.handlers),
            settings,
        })
    }
}
