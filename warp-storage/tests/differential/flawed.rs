//! Stores with a flaw each, to see that the comparison finds it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use warp_policy::ids::{ClaimId, JobId, WorkerId};
use warp_storage::conformance::{DAWN, Harness};
use warp_storage::model::{
    Cancelled, Counters, Dispatch, Dispatched, Job, JobFilter, LogEntry, NewJob, NewWorker,
    ReadBack, Resolver, Sweep, Swept,
};
use warp_storage::store::{CallersConnection, async_trait};
use warp_storage::{Changes, Clock, ManualClock, Memory, Storage, Store, StoreError};

type Result<T> = std::result::Result<T, StoreError>;

/// What is wrong with a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    LosesPriorities,
    LosesReports,
    StartsOneAtMost,
    WakesLate,
    DrainsNobody,
    ForgetsToBury,
    CancelsNobody,
    ForgetsLog,
    ForgetsCounters,
}

impl Flaw {
    pub(crate) const ALL: [Self; 9] = [
        Self::LosesPriorities,
        Self::LosesReports,
        Self::StartsOneAtMost,
        Self::WakesLate,
        Self::DrainsNobody,
        Self::ForgetsToBury,
        Self::CancelsNobody,
        Self::ForgetsLog,
        Self::ForgetsCounters,
    ];

    /// A word of the difference that it makes.
    pub(crate) const fn shows_in(self) -> &'static str {
        match self {
            Self::LosesPriorities => "priority:",
            Self::LosesReports => "Processing",
            Self::StartsOneAtMost | Self::DrainsNobody => "started",
            Self::WakesLate => "next_at",
            Self::ForgetsToBury => "dead: [",
            Self::CancelsNobody => "Cancelled",
            Self::ForgetsLog => "the log of job",
            Self::ForgetsCounters => "the counters",
        }
    }
}

/// A fresh store with a flaw.
pub(crate) struct Flawed {
    store: FlawedStore,
    clock: ManualClock,
}

impl Flawed {
    pub(crate) fn new(flaw: Flaw) -> Self {
        let clock = ManualClock::new(DAWN);
        let memory = Memory::with_clock(clock.clone());
        let store = FlawedStore { memory, flaw };
        Self { store, clock }
    }
}

impl Harness for Flawed {
    fn store(&self) -> &dyn Store {
        &self.store
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }
}

#[derive(Debug)]
struct FlawedStore {
    memory: Memory,
    flaw: Flaw,
}

#[async_trait]
impl Store for FlawedStore {
    fn clock(&self) -> Arc<dyn Clock> {
        self.memory.clock()
    }

    fn changes(&self) -> Changes {
        self.memory.changes()
    }

    async fn another(&self) -> Result<Storage> {
        self.memory.another().await
    }
    async fn enqueue(&self, mut jobs: Vec<NewJob>) -> Result<Vec<JobId>> {
        if self.flaw == Flaw::LosesPriorities {
            for job in &mut jobs {
                job.priority = 0;
            }
        }
        self.memory.enqueue(jobs).await
    }

    async fn enqueue_in(
        &self,
        connection: &mut CallersConnection,
        jobs: Vec<NewJob>,
    ) -> Result<Vec<JobId>> {
        self.memory.enqueue_in(connection, jobs).await
    }

    async fn agree_on_key_secret(&self, fingerprint: String) -> Result<()> {
        self.memory.agree_on_key_secret(fingerprint).await
    }

    async fn register(&self, worker: NewWorker) -> Result<WorkerId> {
        self.memory.register(worker).await
    }

    async fn heartbeat(&self, worker: WorkerId) -> Result<()> {
        self.memory.heartbeat(worker).await
    }

    async fn drain(&self, worker: WorkerId) -> Result<()> {
        match self.flaw {
            Flaw::DrainsNobody => self.memory.heartbeat(worker).await,
            _ => self.memory.drain(worker).await,
        }
    }

    async fn deregister(&self, worker: WorkerId) -> Result<()> {
        self.memory.deregister(worker).await
    }

    async fn dispatch(&self, mut turn: Dispatch, resolver: &dyn Resolver) -> Result<Dispatched> {
        match self.flaw {
            Flaw::LosesReports => turn.finished.truncate(1),
            Flaw::StartsOneAtMost => turn.room = turn.room.min(1),
            _ => {}
        }
        let mut dispatched = self.memory.dispatch(turn, resolver).await?;
        if self.flaw == Flaw::WakesLate {
            let late = Duration::from_micros(1);
            dispatched.next_at = dispatched.next_at.map(|at| at.plus(late));
        }
        Ok(dispatched)
    }

    async fn read_back(&self, worker: WorkerId, known: BTreeSet<ClaimId>) -> Result<ReadBack> {
        self.memory.read_back(worker, known).await
    }

    async fn disown(
        &self,
        worker: WorkerId,
        claim: ClaimId,
        error: String,
        sweep: Sweep,
    ) -> Result<()> {
        self.memory.disown(worker, claim, error, sweep).await
    }

    async fn sweep(&self, sweep: Sweep) -> Result<Swept> {
        match self.flaw {
            Flaw::ForgetsToBury => Ok(Swept::default()),
            _ => self.memory.sweep(sweep).await,
        }
    }

    async fn cancel(&self, id: JobId) -> Result<Cancelled> {
        match self.flaw {
            Flaw::CancelsNobody => Ok(Cancelled::Deleted),
            _ => self.memory.cancel(id).await,
        }
    }

    async fn job(&self, id: JobId) -> Result<Option<Job>> {
        self.memory.job(id).await
    }

    async fn jobs(&self, filter: JobFilter) -> Result<Vec<Job>> {
        self.memory.jobs(filter).await
    }

    async fn log(&self, id: JobId) -> Result<Vec<LogEntry>> {
        let mut log = self.memory.log(id).await?;
        if self.flaw == Flaw::ForgetsLog {
            log.truncate(1);
        }
        Ok(log)
    }

    async fn counters(&self) -> Result<Counters> {
        match self.flaw {
            Flaw::ForgetsCounters => Ok(Counters::default()),
            _ => self.memory.counters().await,
        }
    }
}
