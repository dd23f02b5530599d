//! Enqueueing jobs.

use thiserror::Error;
use warp_policy::PolicyError;
use warp_policy::ids::JobId;
use warp_storage::model::{Cancelled, NewJob};
use warp_storage::{CallersTransaction, Storage, StoreError};

use crate::contract::Job;
use crate::job_parameters::JobParameters;
use crate::registry::{Contract, RegistryErrors, registry};

/// Enqueues jobs into a store. Cheap to clone.
///
/// Nothing is judged here: which policies a job follows is resolved when a worker first judges it (R21).
#[derive(Clone, Debug)]
pub struct Publisher {
    storage: Storage,
}

/// Why nothing was enqueued.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EnqueueError {
    /// An explicit policy is not valid (R24).
    #[error("an explicit policy is not valid: {source}{help}", help = help(source))]
    Policy {
        /// What is wrong with it.
        #[from]
        source: PolicyError,
    },
    /// The job does not serialize.
    #[error("the job `{kind}` does not serialize")]
    Payload {
        /// The stored name of its contract.
        kind: &'static str,
        /// What serde says.
        source: serde_json::Error,
    },
    /// The declarations of the contract cannot be relied on (R5).
    #[error(transparent)]
    Registry(#[from] RegistryErrors),
    /// The store failed.
    #[error("the store did not take the job")]
    Store(#[from] StoreError),
}

fn help(error: &PolicyError) -> String {
    error
        .help()
        .map(|help| format!(" (help: {help})"))
        .unwrap_or_default()
}

impl Publisher {
    /// A publisher into this store.
    pub fn new(storage: impl Into<Storage>) -> Self {
        Self {
            storage: storage.into(),
        }
    }

    /// Enqueues a job: queue `default`, priority 0, ready at once.
    ///
    /// # Errors
    /// See [`EnqueueError`]; nothing was enqueued then. Only where the connection broke at the commit is that not known.
    ///
    /// # Panics
    /// If a store breaks its contract and answers without the job's id.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the job enqueued or not, never half.
    pub async fn enqueue<J: Job>(&self, job: J) -> Result<JobId, EnqueueError> {
        self.enqueue_with(job, JobParameters::new()).await
    }

    /// Enqueues a job with parameters.
    ///
    /// # Errors
    /// See [`EnqueueError`]; nothing was enqueued then. Only where the connection broke at the commit is that not known.
    ///
    /// # Panics
    /// If a store breaks its contract and answers without the job's id.
    pub async fn enqueue_with<J: Job>(
        &self,
        job: J,
        parameters: JobParameters,
    ) -> Result<JobId, EnqueueError> {
        let ids = self.enqueue_all_with([job], parameters).await?;
        Ok(only(&ids))
    }

    /// Enqueues many jobs of one kind in one transaction: all of them or none. Returns their ids in the same order.
    ///
    /// # Errors
    /// See [`EnqueueError`]; nothing was enqueued then. Only where the connection broke at the commit is that not known.
    pub async fn enqueue_all<J: Job>(
        &self,
        jobs: impl IntoIterator<Item = J>,
    ) -> Result<Vec<JobId>, EnqueueError> {
        self.enqueue_all_with(jobs, JobParameters::new()).await
    }

    /// Enqueues many jobs of one kind in one transaction, each with the same parameters.
    ///
    /// # Errors
    /// See [`EnqueueError`]; nothing was enqueued then. Only where the connection broke at the commit is that not known.
    pub async fn enqueue_all_with<J: Job>(
        &self,
        jobs: impl IntoIterator<Item = J>,
        parameters: JobParameters,
    ) -> Result<Vec<JobId>, EnqueueError> {
        Ok(self.storage.enqueue(new_jobs(jobs, &parameters)?).await?)
    }

    /// Enqueues a job in a transaction of the caller's on the same database: it exists once the transaction commits, and not at all if it is
    /// rolled back. Queue `default`, priority 0, ready at the commit.
    ///
    /// ```no_run
    /// # use warp_runtime::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Job)] struct SendInvoice { order: i64 }
    /// # async fn f(storage: Sqlite, publisher: Publisher) -> Result<(), Box<dyn std::error::Error>> {
    /// let mut transaction = storage.begin().await?;
    /// // … write the order into a table of yours, through `&mut *transaction` …
    /// publisher.enqueue_in(&mut transaction, SendInvoice { order: 7 }).await?;
    /// transaction.commit().await?;
    /// # Ok(()) }
    /// ```
    ///
    /// The transaction may be any of sqlx's on the same file, of whatever pool. It should hold the write lock from its beginning, as one of
    /// `Sqlite::begin` does: one that has read first and then finds that somebody else wrote cannot write any more.
    ///
    /// # Errors
    /// See [`EnqueueError`]; nothing was enqueued then, and the rest of the transaction is as it was. In particular
    /// [`StoreError::ForeignTransaction`] where the storage is of another kind, and `SqliteError::OtherDatabase` (in
    /// [`StoreError::Unusable`]) where it is another file.
    ///
    /// # Panics
    /// If a store breaks its contract and answers without the job's id.
    pub async fn enqueue_in<J: Job>(
        &self,
        transaction: &mut impl CallersTransaction,
        job: J,
    ) -> Result<JobId, EnqueueError> {
        self.enqueue_in_with(transaction, job, JobParameters::new())
            .await
    }

    /// Enqueues a job with parameters in a transaction of the caller's; see [`enqueue_in`](Self::enqueue_in).
    ///
    /// # Errors
    /// See [`enqueue_in`](Self::enqueue_in).
    ///
    /// # Panics
    /// If a store breaks its contract and answers without the job's id.
    pub async fn enqueue_in_with<J: Job>(
        &self,
        transaction: &mut impl CallersTransaction,
        job: J,
        parameters: JobParameters,
    ) -> Result<JobId, EnqueueError> {
        let ids = self
            .enqueue_all_in_with(transaction, [job], parameters)
            .await?;
        Ok(only(&ids))
    }

    /// Enqueues many jobs of one kind, each with the same parameters, in a transaction of the caller's; see
    /// [`enqueue_in`](Self::enqueue_in).
    ///
    /// # Errors
    /// See [`enqueue_in`](Self::enqueue_in).
    pub async fn enqueue_all_in_with<J: Job>(
        &self,
        transaction: &mut impl CallersTransaction,
        jobs: impl IntoIterator<Item = J>,
        parameters: JobParameters,
    ) -> Result<Vec<JobId>, EnqueueError> {
        let jobs = new_jobs(jobs, &parameters)?;
        Ok(self
            .storage
            .enqueue_in(transaction.connection(), jobs)
            .await?)
    }

    /// Cancels a job (R52, R110). One that does not run, be it scheduled, ready or waiting, ends as `Deleted` at once and never runs. One that
    /// runs is told so through [`JobContext::cancelled`](crate::JobContext::cancelled), is dropped a second later if it has not ended by
    /// then, and ends as `Deleted`; until its handler has stopped it holds its slots. A handler that returns `Ok` all the same has succeeded.
    ///
    /// Cancelling a job that has ended changes nothing, and cancelling it twice is the same as once.
    ///
    /// # Errors
    /// [`StoreError`] where the store failed.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the job cancelled or not, never half.
    pub async fn cancel(&self, job: JobId) -> Result<Cancelled, StoreError> {
        self.storage.cancel(job).await
    }
}

/// The id of a single job.
fn only(ids: &[JobId]) -> JobId {
    #[expect(
        clippy::expect_used,
        reason = "a store answers with one id for each job"
    )]
    ids.first().copied().expect("one id for one job")
}

/// Jobs as a store takes them; explicit parameters are checked here (R24).
fn new_jobs<J: Job>(
    jobs: impl IntoIterator<Item = J>,
    parameters: &JobParameters,
) -> Result<Vec<NewJob>, EnqueueError> {
    verify::<J>()?;
    let explicit = parameters.explicit()?;
    let new_job = |job: J| {
        let payload = serde_json::to_string(&job).map_err(|source| EnqueueError::Payload {
            kind: J::NAME,
            source,
        })?;
        Ok(NewJob {
            kind: J::NAME.into(),
            queue: parameters.queue.clone(),
            payload,
            priority: parameters.priority,
            ready: parameters.ready,
            explicit: explicit.clone(),
        })
    };
    jobs.into_iter().map(new_job).collect()
}

fn verify<J: Job>() -> Result<(), RegistryErrors> {
    let mut errors = Vec::new();
    registry().verify_contract(&Contract::of::<J>(), &mut errors);
    RegistryErrors::unless_empty(errors)
}
