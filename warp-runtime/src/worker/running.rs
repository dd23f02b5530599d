//! The handlers that run.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;
use warp_policy::ids::{ClaimId, JobId};
use warp_storage::clock::Clock;
use warp_storage::model::{End, Finished, Started};

use super::lease::Lease;
use crate::handlers::{Handlers, Outcome};
use crate::job_context::JobContext;
use crate::retry::Retry;

/// How long a handler that was told to stop has before it is dropped.
pub(super) const CANCEL_NOTICE: Duration = Duration::from_secs(1);

/// The handlers that run, each as a task. Dropping it aborts them.
#[derive(Debug)]
pub(super) struct Running {
    handlers: Arc<Handlers>,
    retry: Retry,
    clock: Arc<dyn Clock>,
    tasks: JoinSet<Option<Outcome>>,
    jobs: HashMap<Id, Attempt>,
}

/// An attempt that runs.
#[derive(Debug)]
struct Attempt {
    started: Started,
    cancelled: CancellationToken,
    /// Its job was cancelled: it is dropped some time after it was told.
    deleted: CancellationToken,
}

impl Running {
    pub(super) fn new(handlers: Arc<Handlers>, retry: Retry, clock: Arc<dyn Clock>) -> Self {
        Self {
            handlers,
            retry,
            clock,
            tasks: JoinSet::new(),
            jobs: HashMap::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Starts the handler of a claimed job. Gives the end at once where there is none to start.
    pub(super) fn start(&mut self, mut started: Started, lease: &Lease) -> Option<Finished> {
        let Some(handler) = self.handlers.find(&started.kind) else {
            let error = format!("this worker has no handler for `{}`", started.kind);
            return Some(Finished {
                job: started.job,
                claim: started.claim,
                end: End::Failed { error },
            });
        };
        let stop = lease.stop();
        let under_lease = lease.one_handler();
        let cancelled = stop.cancelled.child_token();
        let context = JobContext {
            id: started.job,
            kind: started.kind.clone(),
            queue: started.queue.clone(),
            attempt: started.attempt,
            max_attempts: self.retry.max_attempts(),
            admitted_at: started.admitted_at,
            claim: started.claim,
            cancelled: cancelled.clone(),
        };
        let run = handler.run(std::mem::take(&mut started.payload), context);
        let deleted = CancellationToken::new();
        let notice = after_notice(deleted.clone(), Arc::clone(&self.clock));
        let task = self.tasks.spawn(async move {
            let _counted = under_lease;
            tokio::select! {
                biased;
                () = stop.aborted.cancelled() => None,
                () = notice => None,
                outcome = run => Some(outcome),
            }
        });
        let attempt = Attempt {
            started,
            cancelled,
            deleted,
        };
        self.jobs.insert(task.id(), attempt);
        None
    }

    /// The claims under which they run.
    pub(super) fn claims(&self) -> BTreeSet<ClaimId> {
        let attempts = self.jobs.values();
        attempts.map(|attempt| attempt.started.claim).collect()
    }

    /// The jobs of those that run under other claims than these.
    pub(super) fn jobs_without(&self, claims: &BTreeSet<ClaimId>) -> Vec<JobId> {
        let attempts = self.jobs.values().map(|attempt| &attempt.started);
        let without = attempts.filter(|started| !claims.contains(&started.claim));
        without.map(|started| started.job).collect()
    }

    /// Waits for the next handler to end; `None` where none runs. Cancel safe.
    pub(super) async fn next(&mut self) -> Option<Finished> {
        let ended = self.tasks.join_next_with_id().await?;
        Some(self.finish(ended))
    }

    /// A handler that has ended already.
    pub(super) fn try_next(&mut self) -> Option<Finished> {
        let ended = self.tasks.try_join_next_with_id()?;
        Some(self.finish(ended))
    }

    /// Tells the handler of a cancelled job to stop, and drops it a moment later.
    pub(super) fn cancel_job(&self, job: JobId) {
        let mut attempts = self.jobs.values();
        if let Some(attempt) = attempts.find(|attempt| attempt.started.job == job) {
            attempt.cancelled.cancel();
            attempt.deleted.cancel();
        }
    }

    /// Tells the handlers to stop.
    pub(super) fn cancel(&self) {
        for attempt in self.jobs.values() {
            attempt.cancelled.cancel();
        }
    }

    /// Stops the handlers that are left.
    pub(super) fn abort(&mut self) {
        self.tasks.abort_all();
    }

    #[expect(
        clippy::expect_used,
        reason = "every task has its entry from start to end"
    )]
    fn finish(&mut self, ended: Result<(Id, Option<Outcome>), JoinError>) -> Finished {
        let id = ended.as_ref().map_or_else(JoinError::id, |&(id, _)| id);
        let Attempt {
            started, cancelled, ..
        } = self.jobs.remove(&id).expect("every task belongs to a job");
        let failed = |error| match self.retry.delay_after(started.attempt) {
            Some(after) => End::Retry { error, after },
            None => End::Failed { error },
        };
        let end = match ended {
            Ok((_, Some(Outcome::Succeeded))) => End::Succeeded,
            Ok((_, Some(Outcome::Unreadable(error)))) => End::Failed { error },
            // An error of an attempt that was told to stop is no fault of its own.
            Ok((_, Some(Outcome::Failed(_)))) if cancelled.is_cancelled() => End::Returned,
            Ok((_, Some(Outcome::Failed(error)))) => failed(error),
            // The handler's panics are caught; this one came from dropping what it held.
            Err(error) if error.is_panic() => {
                // Its payload is user code as well, and is not dropped.
                std::mem::forget(error.into_panic());
                failed("panicked while it was dropped".to_owned())
            }
            // It was dropped where it stood.
            Ok((_, None)) | Err(_) => End::Returned,
        };
        Finished {
            job: started.job,
            claim: started.claim,
            end,
        }
    }
}

/// Ends some time after the job was cancelled.
async fn after_notice(deleted: CancellationToken, clock: Arc<dyn Clock>) {
    deleted.cancelled().await;
    clock.sleep(CANCEL_NOTICE).await;
}
