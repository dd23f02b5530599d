//! The reference model: everything in one process's memory, behind one lock.
//!
//! It keeps the same rows and indexes as a database would, and its laws are the same. It is the oracle for the other backends, the
//! backend of tests, and fit for work that may be lost with its process. Ended jobs are kept as long as the store lives.

mod audit;
mod cancelling;
mod lines;
mod reading;
mod rows;
mod tables;
mod turn;
mod workers;
mod writing;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use warp_policy::Timestamp;
use warp_policy::ids::{ClaimId, JobId, WorkerId};

pub use self::tables::Operations;
use self::tables::Tables;
use crate::clock::{Clock, SystemClock};
use crate::error::StoreError;
use crate::model::{
    Cancelled, Counters, Dispatch, Dispatched, Job, JobFilter, LogEntry, NewJob, NewWorker,
    ReadBack, Resolver, Sweep, Swept,
};
use crate::store::{Announcements, CallersConnection, Changes, Storage, Store};

/// A store in memory. Clones share it.
#[derive(Clone, Debug)]
pub struct Memory {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    clock: Arc<dyn Clock>,
    tables: Mutex<Tables>,
    announcements: Announcements,
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl Memory {
    /// An empty store on the clock of this machine.
    pub fn new() -> Self {
        Self::with_clock(SystemClock)
    }

    /// An empty store on another clock.
    pub fn with_clock(clock: impl Clock) -> Self {
        let inner = Inner {
            clock: Arc::new(clock),
            tables: Mutex::new(Tables::default()),
            announcements: Announcements::default(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// What the store has done so far, and how often it wrote each kind of row.
    pub fn operations(&self) -> Operations {
        self.tables().operations
    }

    /// How often the row of a job was written, its enqueueing included (R45).
    pub fn writes(&self, job: JobId) -> u32 {
        self.tables().jobs.get(&job).map_or(0, |row| row.writes)
    }

    /// Puts `text` into the stamp of a job, as a foreign hand on a database's row could.
    #[doc(hidden)]
    pub fn overwrite_stamp(&self, job: JobId, text: &str) {
        self.tables().overwrite_stamp(job, text);
    }

    /// Lets every lane sleep without an end, as lost wake-ups would.
    #[doc(hidden)]
    pub fn lose_wake_ups(&self) {
        self.tables().lose_wake_ups();
    }

    /// How many slots are held, and how many lanes there are.
    #[doc(hidden)]
    pub fn leftovers(&self) -> (usize, usize) {
        self.tables().leftovers()
    }

    /// Whether the indexes say what the rows say.
    #[doc(hidden)]
    pub fn audit(&self) -> Result<(), String> {
        self.tables().audit()
    }

    // No user code runs under the lock, so a poisoned one can only come from a defect here; the rows are whole even then.
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.inner
            .tables
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The tables with the instant of the clock, which is read under the lock: of two turns the later one never has the earlier instant.
    fn tables_now(&self) -> (MutexGuard<'_, Tables>, Timestamp) {
        let tables = self.tables();
        let now = self.inner.clock.now();
        (tables, now)
    }

    /// Tells sleeping workers that there is something to see.
    fn announce(&self) {
        self.inner.announcements.work();
    }
}

#[async_trait]
impl Store for Memory {
    fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.inner.clock)
    }

    fn changes(&self) -> Changes {
        self.inner.announcements.listen()
    }

    async fn another(&self) -> Result<Storage, StoreError> {
        Ok(self.clone().into())
    }

    async fn enqueue(&self, jobs: Vec<NewJob>) -> Result<Vec<JobId>, StoreError> {
        let ids = {
            let (mut tables, now) = self.tables_now();
            jobs.into_iter()
                .map(|job| tables.insert_job(job, now))
                .collect()
        };
        self.announce();
        Ok(ids)
    }

    async fn enqueue_in(
        &self,
        _: &mut CallersConnection,
        _: Vec<NewJob>,
    ) -> Result<Vec<JobId>, StoreError> {
        Err(StoreError::ForeignTransaction {
            store: "the store in memory",
        })
    }

    async fn agree_on_key_secret(&self, fingerprint: String) -> Result<(), StoreError> {
        let mut tables = self.tables();
        let kept = tables.key_secret.get_or_insert_with(|| fingerprint.clone());
        if *kept == fingerprint {
            Ok(())
        } else {
            Err(StoreError::OtherKeySecret)
        }
    }

    async fn register(&self, worker: NewWorker) -> Result<WorkerId, StoreError> {
        let (mut tables, now) = self.tables_now();
        let id = tables.register(worker, now);
        drop(tables);
        self.announce();
        Ok(id)
    }

    async fn heartbeat(&self, worker: WorkerId) -> Result<(), StoreError> {
        let (mut tables, now) = self.tables_now();
        let came_back = tables.touch(worker, now)?;
        drop(tables);
        if came_back {
            self.announce();
        }
        Ok(())
    }

    async fn drain(&self, worker: WorkerId) -> Result<(), StoreError> {
        let (mut tables, now) = self.tables_now();
        tables.drain(worker, now)?;
        drop(tables);
        self.announce();
        Ok(())
    }

    async fn deregister(&self, worker: WorkerId) -> Result<(), StoreError> {
        let (mut tables, now) = self.tables_now();
        tables.deregister(worker, now)?;
        drop(tables);
        self.announce();
        Ok(())
    }

    async fn dispatch(
        &self,
        turn: Dispatch,
        resolver: &dyn Resolver,
    ) -> Result<Dispatched, StoreError> {
        let unstamped = {
            let (mut tables, now) = self.tables_now();
            tables.touch(turn.worker, now)?;
            tables.unresolved_candidates(&turn, now)
        };
        let stamps = unstamped
            .into_iter()
            .map(|job| (job.id, resolver.resolve(&job)))
            .collect();
        let (dispatched, others_care) = {
            let (mut tables, now) = self.tables_now();
            tables.dispatch(&turn, stamps, now)?
        };
        if others_care {
            self.announce();
        }
        Ok(dispatched)
    }

    async fn read_back(
        &self,
        worker: WorkerId,
        known: BTreeSet<ClaimId>,
    ) -> Result<ReadBack, StoreError> {
        self.tables().read_back(worker, &known)
    }

    async fn disown(
        &self,
        worker: WorkerId,
        claim: ClaimId,
        error: String,
        sweep: Sweep,
    ) -> Result<(), StoreError> {
        let (mut tables, now) = self.tables_now();
        if tables.disown(worker, claim, &error, sweep, now) {
            drop(tables);
            self.announce();
        }
        Ok(())
    }

    async fn sweep(&self, sweep: Sweep) -> Result<Swept, StoreError> {
        let (mut tables, now) = self.tables_now();
        let swept = tables.sweep(sweep, now);
        drop(tables);
        if !swept.dead.is_empty() || swept.repaired > 0 {
            self.announce();
        }
        Ok(swept)
    }

    async fn cancel(&self, id: JobId) -> Result<Cancelled, StoreError> {
        let (mut tables, now) = self.tables_now();
        let cancelled = tables.cancel(id, now);
        drop(tables);
        match cancelled {
            Cancelled::Deleted => self.announce(),
            Cancelled::Stopping => self.inner.announcements.cancel(),
            Cancelled::Ended | Cancelled::Unknown => {}
        }
        Ok(cancelled)
    }

    async fn job(&self, id: JobId) -> Result<Option<Job>, StoreError> {
        let (tables, now) = self.tables_now();
        Ok(tables.jobs.get(&id).map(|row| tables.view(row, now)))
    }

    async fn jobs(&self, filter: JobFilter) -> Result<Vec<Job>, StoreError> {
        let (tables, now) = self.tables_now();
        Ok(tables.list(&filter, now))
    }

    async fn log(&self, id: JobId) -> Result<Vec<LogEntry>, StoreError> {
        Ok(self
            .tables()
            .jobs
            .get(&id)
            .map(|row| row.log.clone())
            .unwrap_or_default())
    }

    async fn counters(&self) -> Result<Counters, StoreError> {
        Ok(self.tables().counters())
    }
}
