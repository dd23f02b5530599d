//! Memory that fails.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use warp_runtime::prelude::*;
use warp_runtime::storage::clock::Clock;
use warp_runtime::storage::model::{
    Cancelled, Counters, Dispatch, Dispatched, End, Finished, Job as StoredJob, JobFilter,
    LogEntry, NewJob, NewWorker, ReadBack, Resolver, Sweep, Swept,
};
use warp_runtime::storage::store::{CallersConnection, async_trait};
use warp_runtime::storage::{Changes, Storage, Store, StoreError};
use warp_runtime::{ClaimId, JobId, WorkerId};
use warp_tests::World;

/// Memory whose next dispatch turns fail, or are not answered, or that is down altogether.
#[derive(Clone, Debug)]
pub(crate) struct Flaky {
    memory: Memory,
    /// How many of the next turns fail.
    pub(crate) failures: Arc<AtomicU32>,
    /// How many of the next turns that do something take effect without an answer.
    pub(crate) unanswered: Arc<AtomicU32>,
    /// Whose results are refused.
    pub(crate) refused: Arc<Mutex<BTreeSet<JobId>>>,
    /// Whether those are refused only that have an error text of their own.
    pub(crate) refuses_texts: Arc<AtomicBool>,
    /// How many of the next attempts cannot be given up.
    pub(crate) kept: Arc<AtomicU32>,
    /// How many results came too late.
    pub(crate) stale: Arc<AtomicU32>,
    pub(crate) turns: Arc<AtomicU32>,
    pub(crate) is_down: Arc<AtomicBool>,
}

impl Flaky {
    pub(crate) fn new(world: &World) -> Self {
        Self {
            memory: world.memory.clone(),
            failures: Arc::default(),
            unanswered: Arc::default(),
            refused: Arc::default(),
            refuses_texts: Arc::default(),
            kept: Arc::default(),
            stale: Arc::default(),
            turns: Arc::default(),
            is_down: Arc::default(),
        }
    }

    fn turn(&self) -> Result<(), StoreError> {
        self.turns.fetch_add(1, Ordering::SeqCst);
        if is_next(&self.failures) {
            return Err(failure());
        }
        self.is_up()
    }

    fn refuses(&self, job: JobId) -> bool {
        self.refused
            .lock()
            .is_ok_and(|refused| refused.contains(&job))
    }

    fn takes(&self, finished: &[Finished]) -> Result<(), StoreError> {
        let refuses_texts = self.refuses_texts.load(Ordering::SeqCst);
        let is_refused = |finished: &Finished| match &finished.end {
            _ if !self.refuses(finished.job) => false,
            End::Retry { error, .. } | End::Failed { error } if refuses_texts => {
                error.contains("secret")
            }
            _ => !refuses_texts,
        };
        if finished.iter().any(is_refused) {
            let source = "a constraint is violated".into();
            return Err(StoreError::Refused { source });
        }
        Ok(())
    }

    fn is_up(&self) -> Result<(), StoreError> {
        if self.is_down.load(Ordering::SeqCst) {
            return Err(failure());
        }
        Ok(())
    }
}

/// Takes one of those that are left.
fn is_next(left: &AtomicU32) -> bool {
    let one_less = |left: u32| left.checked_sub(1);
    let taken = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less);
    taken.is_ok()
}

fn failure() -> StoreError {
    StoreError::Unavailable {
        source: "connection reset".into(),
    }
}

#[async_trait]
impl Store for Flaky {
    fn clock(&self) -> Arc<dyn Clock> {
        self.memory.clock()
    }
    fn changes(&self) -> Changes {
        self.memory.changes()
    }
    async fn another(&self) -> Result<Storage, StoreError> {
        Ok(self.clone().into())
    }
    async fn enqueue(&self, jobs: Vec<NewJob>) -> Result<Vec<JobId>, StoreError> {
        self.memory.enqueue(jobs).await
    }
    async fn enqueue_in(
        &self,
        connection: &mut CallersConnection,
        jobs: Vec<NewJob>,
    ) -> Result<Vec<JobId>, StoreError> {
        self.memory.enqueue_in(connection, jobs).await
    }
    async fn agree_on_key_secret(&self, fingerprint: String) -> Result<(), StoreError> {
        self.memory.agree_on_key_secret(fingerprint).await
    }
    async fn register(&self, worker: NewWorker) -> Result<WorkerId, StoreError> {
        self.memory.register(worker).await
    }
    async fn heartbeat(&self, worker: WorkerId) -> Result<(), StoreError> {
        self.is_up()?;
        self.memory.heartbeat(worker).await
    }
    async fn drain(&self, worker: WorkerId) -> Result<(), StoreError> {
        self.memory.drain(worker).await
    }
    async fn deregister(&self, worker: WorkerId) -> Result<(), StoreError> {
        self.memory.deregister(worker).await
    }
    async fn dispatch(
        &self,
        turn: Dispatch,
        resolver: &dyn Resolver,
    ) -> Result<Dispatched, StoreError> {
        self.turn()?;
        self.takes(&turn.finished)?;
        let brings = !turn.finished.is_empty();
        let dispatched = self.memory.dispatch(turn, resolver).await?;
        let stale = u32::try_from(dispatched.stale.len()).unwrap_or(u32::MAX);
        self.stale.fetch_add(stale, Ordering::SeqCst);
        if (brings || !dispatched.started.is_empty()) && is_next(&self.unanswered) {
            return Err(failure());
        }
        Ok(dispatched)
    }
    async fn read_back(
        &self,
        worker: WorkerId,
        known: BTreeSet<ClaimId>,
    ) -> Result<ReadBack, StoreError> {
        self.is_up()?;
        self.memory.read_back(worker, known).await
    }
    async fn disown(
        &self,
        worker: WorkerId,
        claim: ClaimId,
        error: String,
        sweep: Sweep,
    ) -> Result<(), StoreError> {
        if is_next(&self.kept) {
            return Err(failure());
        }
        self.memory.disown(worker, claim, error, sweep).await
    }
    async fn sweep(&self, sweep: Sweep) -> Result<Swept, StoreError> {
        self.is_up()?;
        self.memory.sweep(sweep).await
    }
    async fn cancel(&self, id: JobId) -> Result<Cancelled, StoreError> {
        self.memory.cancel(id).await
    }
    async fn job(&self, id: JobId) -> Result<Option<StoredJob>, StoreError> {
        self.memory.job(id).await
    }
    async fn jobs(&self, filter: JobFilter) -> Result<Vec<StoredJob>, StoreError> {
        self.memory.jobs(filter).await
    }
    async fn log(&self, id: JobId) -> Result<Vec<LogEntry>, StoreError> {
        self.memory.log(id).await
    }
    async fn counters(&self) -> Result<Counters, StoreError> {
        self.memory.counters().await
    }
}
