//! The store on a PostgreSQL server, which many processes on many machines may share.
//!
//! A turn in which nothing has a policy is one statement, `turn_without_keys`: the call of a function that looks, ends, starts and notes the
//! turn (`migrations/0003_turn_without_keys.sql`). Every other turn is one short transaction of a few statements on sets, however many jobs it
//! ends, judges and starts: at most ten, with what comes before it. The rows of limiters are the locks. A turn waits for a key only while it holds nothing that others need, and only for a moment;
//! what it cannot have at once it leaves to another turn.
//!
//! | statement | locks | what it does |
//! |---|---|---|
//! | `turn_without_keys` or `peek` | – | looks whether there is anything to do; then the user's code resolves stamps |
//! | `limiters_insert` | – | adds the rows of keys that this process has not met yet, in a transaction of its own |
//! | `BEGIN` | – | READ COMMITTED, and how long others may have to wait for this transaction |
//! | `opening` | worker, keys of ended attempts | ends attempts and frees their slots |
//! | `due` | ready jobs | who is there, which lanes to judge, which ready jobs |
//! | `lock_at_once` | their keys | what others hold is left out of the turn |
//! | `keys` | – | the clock, and everything about the locked keys, as it is now that they are locked |
//! | `write` | – | everything that was decided |
//! | `turn_end` | worker | notes the turn |
//! | `COMMIT` | | |
//!
//! Nothing hangs on a session: no setting outlives its transaction, and locks are rows. The tables are described where they are made, in
//! `migrations/0001_tables.sql`.

mod cancelling;
mod changes;
mod disowning;
mod enqueue;
mod error;
mod jitter;
mod key_secret;
mod keys;
mod mend;
mod migrations;
mod notices;
mod opening;
mod options;
mod queries;
mod read_back;
mod reading;
mod session;
mod statements;
mod statistics;
mod sweep;
mod time;
mod turn;
mod without_keys;
mod workers;
mod writing;

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use sqlx::PgPool;
use warp_policy::admission::KeyId;
use warp_policy::ids::{ClaimId, JobId, WorkerId};

pub use self::error::{Place, PostgresError};
use self::notices::Notices;
pub use self::options::PostgresOptions;
use self::statements::Statements;
use self::statistics::Counts;
pub use self::statistics::Statistics;
use self::time::Time;
use self::without_keys::Kinds;
use crate::clock::Clock;
use crate::error::StoreError;
use crate::model::{
    Cancelled, Counters, Dispatch, Dispatched, Job, JobFilter, LogEntry, NewJob, NewWorker,
    ReadBack, Resolver, Sweep, Swept,
};
use crate::sql::sweeping::Cursors;
use crate::store::{Announcements, CallersConnection, Changes, Storage, Store};

/// How many connections the store of a thread of its own opens at most.
const OF_ANOTHER: u32 = 2;

/// A transaction of a caller's on the database; see [`Postgres::begin`].
pub type PostgresTransaction = sqlx::Transaction<'static, sqlx::Postgres>;

/// A store in a schema of a PostgreSQL database. Clones share it.
///
/// ```no_run
/// # async fn f() -> Result<(), Box<dyn std::error::Error>> {
/// use warp_storage::Postgres;
///
/// let storage = Postgres::connect("postgres://app@localhost/app").await?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Postgres {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// How it was opened.
    options: PostgresOptions,
    place: Place,
    /// Tells this schema from any other.
    id: String,
    statements: Statements,
    pool: PgPool,
    time: Time,
    counts: Arc<Counts>,
    announcements: Announcements,
    notices: Notices,
    kinds: Kinds,
    /// Keys that have a row, or had one.
    known_keys: Mutex<HashSet<KeyId>>,
    /// Jobs that failed because of their rows and were not reported yet; the next turn does.
    unreported: Mutex<Vec<(JobId, String)>>,
    cursors: tokio::sync::Mutex<Cursors>,
}

impl Postgres {
    /// Opens the store in the schema `warp` of a database, and brings that up to date first, which creates it where it is missing.
    ///
    /// # Errors
    /// See [`PostgresOptions::connect`].
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn connect(url: &str) -> Result<Self, PostgresError> {
        Self::options(url).connect().await
    }

    /// How to open a store otherwise than by default.
    pub fn options(url: &str) -> PostgresOptions {
        PostgresOptions::new(url)
    }

    /// Brings the schema `warp` of a database up to date, which creates it where it is missing; see [`PostgresOptions::migrate`].
    ///
    /// # Errors
    /// See [`PostgresOptions::connect`].
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn migrate(url: &str) -> Result<(), PostgresError> {
        Self::options(url).migrate().await
    }

    /// Where the store is.
    pub fn place(&self) -> &Place {
        &self.inner.place
    }

    /// Begins a transaction, to change the application's own tables and enqueue jobs in one. One of the application's own pool will do as
    /// well, if it is on the same database.
    ///
    /// # Errors
    /// [`PostgresError::Unreachable`] and the like.
    ///
    /// # Cancel safety
    /// Dropping the future, or the transaction, leaves nothing behind.
    pub async fn begin(&self) -> Result<PostgresTransaction, PostgresError> {
        let transaction = self.inner.pool.begin().await;
        transaction.map_err(|error| PostgresError::of(&self.inner.place, error))
    }

    /// Closes the connections of this store and its clones.
    pub async fn close(self) {
        self.inner.pool.close().await;
    }

    /// What this opened store has cost so far.
    pub fn statistics(&self) -> Statistics {
        self.inner.counts.statistics()
    }
}

impl Inner {
    /// Tells sleeping workers that there is something to see, those of other processes too.
    fn announce_to_all(&self) {
        self.announce();
        self.notices.tell();
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
}

#[async_trait]
impl Store for Postgres {
    fn clock(&self) -> Arc<dyn Clock> {
        self.inner.time.clock()
    }

    fn changes(&self) -> Changes {
        self.inner.announcements.listen()
    }

    async fn another(&self) -> Result<Storage, StoreError> {
        let options = self.inner.options.clone();
        Ok(options
            .max_connections(OF_ANOTHER)
            .notifications(false)
            .open()
            .await?
            .into())
    }

    async fn enqueue(&self, jobs: Vec<NewJob>) -> Result<Vec<JobId>, StoreError> {
        let ids = self.inner.enqueue(jobs).await?;
        self.inner.announce_to_all();
        Ok(ids)
    }

    async fn enqueue_in(
        &self,
        connection: &mut CallersConnection,
        jobs: Vec<NewJob>,
    ) -> Result<Vec<JobId>, StoreError> {
        let connection = connection
            .downcast_mut()
            .ok_or(StoreError::ForeignTransaction {
                store: "PostgreSQL",
            })?;
        Ok(self.inner.enqueue_in(connection, jobs).await?)
    }

    async fn agree_on_key_secret(&self, fingerprint: String) -> Result<(), StoreError> {
        self.inner.agree_on_key_secret(fingerprint).await
    }

    async fn register(&self, worker: NewWorker) -> Result<WorkerId, StoreError> {
        let kinds = worker.kinds.clone();
        let id = self.inner.register(worker).await?;
        self.inner.note_kinds(id, kinds);
        self.inner.announce_to_all();
        Ok(id)
    }

    async fn heartbeat(&self, worker: WorkerId) -> Result<(), StoreError> {
        if self.inner.touch(worker, false).await? {
            self.inner.announce_to_all();
        }
        Ok(())
    }

    async fn drain(&self, worker: WorkerId) -> Result<(), StoreError> {
        self.inner.touch(worker, true).await?;
        self.inner.announce_to_all();
        Ok(())
    }

    async fn deregister(&self, worker: WorkerId) -> Result<(), StoreError> {
        self.inner.deregister(worker).await?;
        self.inner.forget_kinds(worker);
        self.inner.announce_to_all();
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
            self.inner.announce_to_all();
        }
        Ok(())
    }

    async fn sweep(&self, sweep: Sweep) -> Result<Swept, StoreError> {
        let swept = self.inner.sweep(sweep).await?;
        if !swept.dead.is_empty() || swept.repaired > 0 {
            self.inner.announce_to_all();
        }
        Ok(swept)
    }

    async fn cancel(&self, id: JobId) -> Result<Cancelled, StoreError> {
        let cancelled = self.inner.cancel(id).await?;
        match cancelled {
            Cancelled::Deleted => self.inner.announce_to_all(),
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
