//! One of the two stores, to which a history is told.

use warp_policy::Timestamp;
use warp_policy::declaration::Declared;
use warp_policy::ids::JobId;
use warp_policy::precedence::resolve;
use warp_storage::conformance::Harness;
use warp_storage::model::{
    Counters, Dispatch, Dispatched, Finished, Job, JobFilter, LogEntry, Resolution, Resolver,
    Unresolved,
};
use warp_storage::{Clock, Store, StoreError};

use crate::Result;
use crate::ids::Ids;
use crate::jobs::UNRESOLVABLE;
use crate::step::{Answer, Step, Turn};

/// A store with the ids it gave out.
pub(crate) struct Side {
    harness: Box<dyn Harness>,
    ids: Ids,
}

impl Side {
    pub(crate) fn new(harness: Box<dyn Harness>) -> Self {
        let ids = Ids::default();
        Self { harness, ids }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.harness.clock().now()
    }

    fn store(&self) -> &dyn Store {
        self.harness.store()
    }

    /// Takes a step. A worker that is gone is an answer; any other error is one of the backend.
    pub(crate) async fn take(&mut self, step: &Step) -> Result<Answer> {
        match self.try_to_take(step).await {
            Ok(answer) => Ok(answer),
            Err(error) => match error.downcast_ref() {
                Some(StoreError::WorkerGone { worker }) => {
                    Ok(Answer::Gone(self.ids.worker(*worker)))
                }
                // With what the database said.
                _ => Err(format!("{error}: {error:?}").into()),
            },
        }
    }

    async fn try_to_take(&mut self, step: &Step) -> Result<Answer> {
        match step {
            Step::Enqueue(jobs) => {
                let ids = self.store().enqueue(jobs.clone()).await?;
                self.ids.enqueued(ids, jobs.len())?;
            }
            Step::Damage { .. } => {}
            Step::Register(worker) => {
                let id = self.store().register(worker.clone()).await?;
                self.ids.workers.push(id);
            }
            Step::Turn(turn) => {
                let dispatched = self.turn(turn).await?;
                self.ids.started(&dispatched.started)?;
                return Ok(Answer::Turn(self.ids.dispatched(dispatched)));
            }
            &Step::Cancel(job) => {
                let cancelled = self.store().cancel(self.ids.jobs[job]).await?;
                return Ok(Answer::Cancelled(cancelled));
            }
            &Step::Heartbeat(worker) => self.store().heartbeat(self.ids.workers[worker]).await?,
            &Step::Drain(worker) => self.store().drain(self.ids.workers[worker]).await?,
            &Step::Deregister(worker) => self.store().deregister(self.ids.workers[worker]).await?,
            &Step::Sweep(sweep) => {
                let swept = self.store().sweep(sweep).await?;
                return Ok(Answer::Swept(self.ids.swept(swept)));
            }
            &Step::SetClock(now) => self.harness.clock().set(now),
            Step::List(filter) => {
                let after = filter.after.and_then(|job| usize::try_from(job.get()).ok());
                let filter = JobFilter {
                    after: after.map(|job| self.ids.jobs[job]),
                    ..filter.clone()
                };
                return Ok(Answer::Listed(self.jobs(filter).await?));
            }
        }
        Ok(Answer::Done)
    }

    /// A turn that finds nothing to do need not renew the lease: the worker says beforehand that it is alive, as a real one does in time.
    async fn turn(&self, turn: &Turn) -> Result<Dispatched> {
        let worker = self.ids.workers[turn.worker];
        let beat = self.store().heartbeat(worker).await;
        let finished = turn.reports.iter().map(|report| {
            let (job, claim) = self.ids.starts[report.start];
            let end = report.end.clone();
            Finished { job, claim, end }
        });
        let dispatch = Dispatch {
            worker,
            turn: turn.number,
            finished: finished.collect(),
            room: turn.room,
            fetch: turn.fetch,
        };
        let dispatched = self.store().dispatch(dispatch, &Explicit).await;
        if beat.is_err() && dispatched.is_ok() {
            return Err("a worker had a turn, although it was gone".into());
        }
        Ok(dispatched?)
    }

    /// Damages the stamp of a job, where the backend offers that.
    pub(crate) async fn damage(&self, job: usize, text: &str) -> Option<()> {
        self.harness.overwrite_stamp(self.ids.jobs[job], text).await
    }

    pub(crate) async fn all_jobs(&self) -> Result<Vec<Job>> {
        let limit = usize::MAX;
        let all = JobFilter {
            limit,
            ..JobFilter::default()
        };
        self.jobs(all).await
    }

    async fn jobs(&self, filter: JobFilter) -> Result<Vec<Job>> {
        let jobs = self.store().jobs(filter).await?;
        Ok(jobs.into_iter().map(|job| self.ids.view(job)).collect())
    }

    /// One job by its number, as it is shown alone.
    pub(crate) async fn job(&self, job: usize) -> Result<Option<Job>> {
        let job = self.store().job(self.ids.jobs[job]).await?;
        Ok(job.map(|job| self.ids.view(job)))
    }

    pub(crate) async fn log(&self, job: JobId) -> Result<Vec<LogEntry>> {
        let id = self.ids.jobs[usize::try_from(job.get())?];
        let log = self.store().log(id).await?;
        Ok(log.into_iter().map(|entry| self.ids.entry(entry)).collect())
    }

    pub(crate) async fn counters(&self) -> Result<Counters> {
        Ok(self.store().counters().await?)
    }

    pub(crate) async fn audit(&self) -> Result {
        self.harness.audit().await
    }
}

/// Resolves to the explicit policies; some jobs that have such cannot be resolved.
#[derive(Debug)]
struct Explicit;

impl Resolver for Explicit {
    fn resolve(&self, job: &Unresolved) -> Resolution {
        if job.payload == UNRESOLVABLE {
            return Resolution::Fail("the contract cannot be read".to_owned());
        }
        match resolve(&job.explicit, &Declared::NONE, &Declared::NONE, &()) {
            Ok(stamp) => Resolution::Stamp(stamp),
            Err(error) => Resolution::Fail(error.to_string()),
        }
    }

    fn declares_nothing(&self, _kind: &str) -> bool {
        true
    }
}
