//! The embedded store: everything in one SQLite file, which several processes of one machine may share.
//!
//! A turn takes the write lock only after a plain read has shown that there is something to do, and does it in at most fifteen
//! statements, however many jobs it ends, judges and starts. Every call is one transaction.
//!
//! The tables, all named `warp_…`, are described where they are made, in `migrations/0001_tables.sql`.

mod cancelling;
mod changes;
mod disowning;
mod enqueue;
mod error;
mod key_secret;
mod lines;
mod log;
mod mend;
mod migrations;
mod options;
mod queries;
mod read_back;
mod reading;
mod statements;
mod statistics;
mod sweep;
mod turn;
mod workers;
mod writer;
mod writing;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, PoisonError};

use async_trait::async_trait;
use sqlx::SqlitePool;
use tokio::sync::Mutex;
use tokio::task::AbortHandle;
use warp_policy::ids::{ClaimId, JobId, WorkerId};

pub use self::error::SqliteError;
pub use self::options::{SqliteOptions, Synchronous};
pub use self::statistics::Statistics;
use self::writer::Writer;
use crate::clock::{Clock, SystemClock};
use crate::error::StoreError;
use crate::model::{
    Cancelled, Counters, Dispatch, Dispatched, Job, JobFilter, LogEntry, NewJob, NewWorker,
    ReadBack, Resolver, Sweep, Swept,
};
use crate::sql::sweeping::Cursors;
use crate::store::{Announcements, CallersConnection, Changes, Storage, Store};

/// A transaction of a caller's on the file; see [`Sqlite::begin`].
pub type SqliteTransaction = sqlx::SqliteTransaction<'static>;

/// A store in a SQLite file. Clones share it.
///
/// ```no_run
/// # async fn f() -> Result<(), Box<dyn std::error::Error>> {
/// use warp_storage::Sqlite;
///
/// let storage = Sqlite::open("jobs.db").await?;
/// # Ok(()) }
/// ```
///
/// Several processes may open one file, on one machine: SQLite's locks do not work over a network.
#[derive(Clone, Debug)]
pub struct Sqlite {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    file: PathBuf,
    options: SqliteOptions,
    /// Tells this file from any other.
    id: String,
    /// Tells this opened store from others on the file.
    process: String,
    clock: Arc<dyn Clock>,
    writer: Writer,
    pool: SqlitePool,
    announcements: Announcements,
    watcher: std::sync::Mutex<Option<AbortHandle>>,
    /// What SQLite had counted of the commits of others when that was looked at last.
    seen_version: AtomicI64,
    cursors: Mutex<Cursors>,
    /// Jobs that failed because of their rows while no turn was taken; the next one reports them.
    unreported: std::sync::Mutex<Vec<(JobId, String)>>,
}

impl Sqlite {
    /// Opens a file, and creates it where it is missing.
    ///
    /// # Errors
    /// See [`SqliteOptions::open`].
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn open(file: impl AsRef<Path>) -> Result<Self, SqliteError> {
        Self::options(file).open().await
    }

    /// How to open a file otherwise than by default.
    pub fn options(file: impl AsRef<Path>) -> SqliteOptions {
        SqliteOptions::new(file.as_ref())
    }

    /// The file, as an absolute path.
    pub fn file(&self) -> &Path {
        &self.inner.file
    }

    /// Begins a transaction that holds the write lock, to change the application's own tables and enqueue jobs in one.
    ///
    /// Until it ends nobody else writes to the file, no worker included: keep it short.
    ///
    /// # Errors
    /// [`SqliteError::Locked`] and the like.
    ///
    /// # Cancel safety
    /// Dropping the future, or the transaction, leaves nothing behind.
    pub async fn begin(&self) -> Result<SqliteTransaction, SqliteError> {
        let began = SystemClock.now();
        let transaction = self.inner.pool.begin_with("BEGIN IMMEDIATE").await;
        transaction.map_err(|error| match SqliteError::of(&self.inner.file, error) {
            SqliteError::Locked { file, .. } => SqliteError::Locked {
                file,
                waited: SystemClock.now().since(began),
            },
            error => error,
        })
    }

    /// Closes the file, for this store and its clones, whose calls fail from then on: stop workers first. The last process that closes it leaves one file behind: the `-wal` file is written back
    /// and goes, and so does the `-shm` file. A store that is dropped leaves them to whoever opens the file next, which loses nothing.
    ///
    /// # Errors
    /// [`SqliteError`] where what is left could not be written back; it is not lost.
    pub async fn close(self) -> Result<(), SqliteError> {
        self.inner.pool.close().await;
        self.inner.writer.close().await
    }

    /// What this opened store has cost so far.
    pub fn statistics(&self) -> Statistics {
        self.inner.writer.counts().statistics()
    }
}

impl Inner {
    fn new(
        file: PathBuf,
        options: SqliteOptions,
        id: String,
        clock: Arc<dyn Clock>,
        writer: Writer,
        pool: SqlitePool,
    ) -> Arc<Self> {
        let process = format!("{}-{}", std::process::id(), clock.now().as_micros());
        Arc::new(Self {
            file,
            options,
            id,
            process,
            clock,
            writer,
            pool,
            announcements: Announcements::default(),
            watcher: std::sync::Mutex::default(),
            seen_version: AtomicI64::default(),
            cursors: Mutex::default(),
            unreported: std::sync::Mutex::default(),
        })
    }

    /// Tells sleeping workers of this process that there is something to see.
    fn announce(&self) {
        self.announcements.work();
    }

    /// Has the next turn report a job that failed because of its row.
    fn report_later(&self, job: JobId, error: String) {
        self.unreported
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((job, error));
    }

    fn has_reported(&self) -> bool {
        self.unreported
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_empty()
    }

    fn unreported(&self) -> Vec<(JobId, String)> {
        std::mem::take(
            &mut self
                .unreported
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// What SQLite counts of the commits of other connections.
    async fn data_version(&self) -> Result<i64, SqliteError> {
        use sqlx::Row;

        let mut session = self.writer.connection().await?;
        let rows = session.rows(sqlx::query("PRAGMA data_version")).await?;
        session.keep();
        let version = rows.first().map_or(Ok(0), |row| row.try_get(0));
        version.map_err(|error| SqliteError::of(&self.file, error))
    }
}

#[async_trait]
impl Store for Sqlite {
    fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.inner.clock)
    }

    fn changes(&self) -> Changes {
        changes::watch(&self.inner);
        self.inner.announcements.listen()
    }

    async fn another(&self) -> Result<Storage, StoreError> {
        Ok(self.inner.options.clone().open().await?.into())
    }

    async fn enqueue(&self, jobs: Vec<NewJob>) -> Result<Vec<JobId>, StoreError> {
        let ids = self.inner.enqueue(jobs).await?;
        self.inner.announce();
        Ok(ids)
    }

    async fn enqueue_in(
        &self,
        connection: &mut CallersConnection,
        jobs: Vec<NewJob>,
    ) -> Result<Vec<JobId>, StoreError> {
        let connection = connection
            .downcast_mut()
            .ok_or(StoreError::ForeignTransaction { store: "SQLite" })?;
        Ok(self.inner.enqueue_in(connection, jobs).await?)
    }

    async fn agree_on_key_secret(&self, fingerprint: String) -> Result<(), StoreError> {
        self.inner.agree_on_key_secret(fingerprint).await
    }

    async fn register(&self, worker: NewWorker) -> Result<WorkerId, StoreError> {
        let id = self.inner.register(worker).await?;
        self.inner.announce();
        Ok(id)
    }

    async fn heartbeat(&self, worker: WorkerId) -> Result<(), StoreError> {
        if self.inner.touch(worker, false).await? {
            self.inner.announce();
        }
        Ok(())
    }

    async fn drain(&self, worker: WorkerId) -> Result<(), StoreError> {
        self.inner.touch(worker, true).await?;
        self.inner.announce();
        Ok(())
    }

    async fn deregister(&self, worker: WorkerId) -> Result<(), StoreError> {
        self.inner.deregister(worker).await?;
        self.inner.announce();
        Ok(())
    }

    async fn dispatch(
        &self,
        turn: Dispatch,
        resolver: &dyn Resolver,
    ) -> Result<Dispatched, StoreError> {
        self.inner.dispatch(turn, resolver).await
    }

    async fn read_back(
        &self,
        worker: WorkerId,
        known: BTreeSet<ClaimId>,
    ) -> Result<ReadBack, StoreError> {
        self.inner.read_back(worker, &known).await
    }

    async fn disown(
        &self,
        worker: WorkerId,
        claim: ClaimId,
        error: String,
        sweep: Sweep,
    ) -> Result<(), StoreError> {
        if self.inner.disown(worker, claim, &error, sweep).await? {
            self.inner.announce();
        }
        Ok(())
    }

    async fn sweep(&self, sweep: Sweep) -> Result<Swept, StoreError> {
        let swept = self.inner.sweep(sweep).await?;
        if !swept.dead.is_empty() || swept.repaired > 0 {
            self.inner.announce();
        }
        Ok(swept)
    }

    async fn cancel(&self, id: JobId) -> Result<Cancelled, StoreError> {
        let cancelled = self.inner.cancel(id).await?;
        match cancelled {
            Cancelled::Deleted => self.inner.announce(),
            Cancelled::Stopping => self.inner.announcements.cancel(),
            Cancelled::Ended | Cancelled::Unknown => {}
        }
        Ok(cancelled)
    }

    async fn job(&self, id: JobId) -> Result<Option<Job>, StoreError> {
        Ok(self.inner.job(id).await?)
    }

    async fn jobs(&self, filter: JobFilter) -> Result<Vec<Job>, StoreError> {
        Ok(self.inner.jobs(filter).await?)
    }

    async fn log(&self, id: JobId) -> Result<Vec<LogEntry>, StoreError> {
        Ok(self.inner.log(id).await?)
    }

    async fn counters(&self) -> Result<Counters, StoreError> {
        Ok(self.inner.counters().await?)
    }
}
