//! The interface of a backend.

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// For implementations outside this crate.
pub use async_trait::async_trait;
use tokio::sync::watch;
use warp_policy::ids::{ClaimId, JobId, WorkerId};

use crate::clock::Clock;
use crate::error::StoreError;
use crate::model::{
    Cancelled, Counters, Dispatch, Dispatched, Job, JobFilter, LogEntry, NewJob, NewWorker,
    ReadBack, Resolver, Sweep, Swept,
};

/// A backend. Every call is one transaction: it takes effect as a whole or not at all, also when its future is dropped.
///
/// A store is built with its clock, the database's in production (R66); no caller passes an instant of its own.
#[async_trait]
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// The clock that a worker sleeps by.
    fn clock(&self) -> Arc<dyn Clock>;

    /// Tells when something happened that a sleeping worker may want to know: a new job, a lane of another worker's that became due.
    /// A hint; what matters is in the rows.
    fn changes(&self) -> Changes;

    /// The same store with connections of its own, which live on the runtime that this is called on: for a thread that must not depend on
    /// what others do.
    async fn another(&self) -> Result<Storage, StoreError>;

    /// Adds jobs, and returns their ids in the same order.
    async fn enqueue(&self, jobs: Vec<NewJob>) -> Result<Vec<JobId>, StoreError>;

    /// Adds jobs in a transaction of the caller's on the same database: they exist, and are announced, once it commits.
    async fn enqueue_in(
        &self,
        connection: &mut CallersConnection,
        jobs: Vec<NewJob>,
    ) -> Result<Vec<JobId>, StoreError>;

    /// Keeps the fingerprint of the secret behind hashed fields of keys, or compares it with the one that is kept (R35). Workers with two secrets
    /// would split keys in two.
    ///
    /// # Errors
    /// [`StoreError::OtherKeySecret`] where another one is kept.
    async fn agree_on_key_secret(&self, fingerprint: String) -> Result<(), StoreError>;

    /// Adds a worker. Lanes that nobody could run before and that it can run become due.
    async fn register(&self, worker: NewWorker) -> Result<WorkerId, StoreError>;

    /// Says that a worker is alive.
    async fn heartbeat(&self, worker: WorkerId) -> Result<(), StoreError>;

    /// Takes a worker out of those that can run anything; it still finishes what it runs (R83).
    async fn drain(&self, worker: WorkerId) -> Result<(), StoreError>;

    /// Removes a worker. What it still runs goes back to the queue with its place, and no attempt was used.
    async fn deregister(&self, worker: WorkerId) -> Result<(), StoreError>;

    /// One dispatch turn: finishes what ended, admits what may start, puts in line what may not (R40–R49). A turn that ends
    /// or starts anything says that the worker is alive, too.
    async fn dispatch(
        &self,
        turn: Dispatch,
        resolver: &dyn Resolver,
    ) -> Result<Dispatched, StoreError>;

    /// What a worker runs by the store's account, for one that cannot know what its last turn did, since the answer did not come (R85).
    /// A turn of its that is still under way is waited for. `known` are the claims of what it runs, and of results that it still has to
    /// bring.
    async fn read_back(
        &self,
        worker: WorkerId,
        known: BTreeSet<ClaimId>,
    ) -> Result<ReadBack, StoreError>;

    /// Gives up an attempt whose end cannot be written: its job is lost, as if its worker had died (R85). `error` says why. Where the claim is
    /// no longer held nothing changes.
    async fn disown(
        &self,
        worker: WorkerId,
        claim: ClaimId,
        error: String,
        sweep: Sweep,
    ) -> Result<(), StoreError>;

    /// Declares silent workers dead and gives their jobs back (R80), repairs lost wake-ups (R44) and forgets idle limiters (R68).
    async fn sweep(&self, sweep: Sweep) -> Result<Swept, StoreError>;

    /// Cancels a job: one that does not run ends at once and never will; one that runs ends as soon as its handler has, for which its
    /// worker is told to stop it. Cancelling a job that has ended, or was cancelled before, changes nothing.
    async fn cancel(&self, id: JobId) -> Result<Cancelled, StoreError>;

    /// One job.
    async fn job(&self, id: JobId) -> Result<Option<Job>, StoreError>;

    /// Jobs by ascending id.
    async fn jobs(&self, filter: JobFilter) -> Result<Vec<Job>, StoreError>;

    /// What happened to a job, oldest first.
    async fn log(&self, id: JobId) -> Result<Vec<LogEntry>, StoreError>;

    /// The counters.
    async fn counters(&self) -> Result<Counters, StoreError>;
}

/// The connection of a caller's transaction, of whatever database.
pub type CallersConnection = dyn Any + Send;

/// A transaction of a caller's, of a driver that some store knows.
pub trait CallersTransaction: Send {
    /// The connection on which the transaction is.
    fn connection(&mut self) -> &mut CallersConnection;
}

/// A shared store. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Storage(Arc<dyn Store>);

impl<S: Store> From<S> for Storage {
    fn from(store: S) -> Self {
        Self(Arc::new(store))
    }
}

impl Deref for Storage {
    type Target = dyn Store;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

/// Tells when something happened in a store.
#[derive(Clone, Debug)]
pub struct Changes {
    work: watch::Receiver<u64>,
    cancels: watch::Receiver<u64>,
}

impl Changes {
    /// Waits until there may be something to do for a worker with room, since the last call. Several changes are reported once. Cancel safe.
    pub async fn changed(&mut self) {
        next(&mut self.work).await;
    }

    /// Waits until a running job may have been cancelled, since the last call, which concerns a worker without room as well. Cancel safe.
    pub async fn cancelled(&mut self) {
        next(&mut self.cancels).await;
    }
}

async fn next(changes: &mut watch::Receiver<u64>) {
    if changes.changed().await.is_err() {
        // The store is gone; nothing will ever change again.
        std::future::pending::<()>().await;
    }
}

/// Where a backend announces changes to the workers of its process.
#[derive(Debug)]
pub(crate) struct Announcements {
    work: watch::Sender<u64>,
    cancels: watch::Sender<u64>,
}

impl Default for Announcements {
    fn default() -> Self {
        Self {
            work: watch::Sender::new(0),
            cancels: watch::Sender::new(0),
        }
    }
}

impl Announcements {
    pub(crate) fn listen(&self) -> Changes {
        Changes {
            work: self.work.subscribe(),
            cancels: self.cancels.subscribe(),
        }
    }

    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn is_heard(&self) -> bool {
        self.work.receiver_count() > 0
    }

    /// There may be something to do.
    pub(crate) fn work(&self) {
        self.work
            .send_modify(|changes| *changes = changes.wrapping_add(1));
    }

    /// Anything may have been missed.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn catch_up(&self) {
        self.work();
        self.cancel();
    }

    /// A running job was cancelled.
    pub(crate) fn cancel(&self) {
        self.cancels
            .send_modify(|changes| *changes = changes.wrapping_add(1));
    }
}
