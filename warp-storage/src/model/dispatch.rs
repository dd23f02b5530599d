//! One dispatch turn: what a worker brings, and what it gets.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use warp_policy::ids::{ClaimId, JobId, WorkerId};
use warp_policy::precedence::ExplicitPolicies;
use warp_policy::{Stamp, Timestamp};

/// What a worker brings to a turn.
#[derive(Clone, Debug)]
pub struct Dispatch {
    /// The worker.
    pub worker: WorkerId,
    /// The number of the turn, ascending.
    pub turn: u64,
    /// Attempts that ended since the last turn.
    pub finished: Vec<Finished>,
    /// How many jobs can be started.
    pub room: usize,
    /// How many ready jobs to read, at least `room`: more where those in front can only be put in line.
    pub fetch: usize,
}

impl Dispatch {
    /// Of the worker's cancelled jobs, those that still run.
    pub(crate) fn still_running(&self, mut cancelled: Vec<JobId>) -> Vec<JobId> {
        cancelled.retain(|&job| self.finished.iter().all(|finished| finished.job != job));
        cancelled.sort_unstable();
        cancelled
    }
}

/// An attempt that ended.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The job.
    pub job: JobId,
    /// The claim under which it ran. A result under another claim is refused and changes nothing (R81).
    pub claim: ClaimId,
    /// How it ended.
    pub end: End,
}

/// How an attempt ended. Where a job was cancelled meanwhile, [`Retry`](Self::Retry) and [`Returned`](Self::Returned) end it as `Deleted`:
/// it never becomes ready again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// The job succeeded.
    Succeeded,
    /// The attempt failed; the job becomes ready again after the delay.
    Retry {
        /// Why.
        error: String,
        /// How long to wait.
        after: Duration,
    },
    /// The job failed for good.
    Failed {
        /// Why.
        error: String,
    },
    /// The worker stops; the job goes back with its place, and no attempt was used (R83).
    Returned,
}

/// A job without a stamp, as its resolver sees it.
#[derive(Clone, Debug)]
pub struct Unresolved {
    /// The job.
    pub id: JobId,
    /// The stored name of its contract.
    pub kind: Arc<str>,
    /// The contract as JSON.
    pub payload: String,
    /// The policies given at enqueue.
    pub explicit: ExplicitPolicies,
}

/// Resolves which policies a job follows (R20). Called outside all locks, since it runs the user's code (R32).
pub trait Resolver: fmt::Debug + Send + Sync {
    /// The stamp of a job, or why it has to fail.
    fn resolve(&self, job: &Unresolved) -> Resolution;

    /// Whether every job of this kind resolves to no policy unless one was given with it, so that a store need not ask (R47).
    fn declares_nothing(&self, _kind: &str) -> bool {
        false
    }
}

/// What a resolver answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a store must handle both")]
pub enum Resolution {
    /// The policies that the job follows from now on.
    Stamp(Stamp),
    /// No attempt can help this job; it fails with this reason.
    Fail(String),
}

/// What a worker gets from a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatched {
    /// The store's clock in the turn.
    pub now: Timestamp,
    /// Jobs to run.
    pub started: Vec<Started>,
    /// How many ready jobs were put in line or skipped.
    pub refused: usize,
    /// Jobs that failed in the turn because their row cannot be judged.
    pub failed: Vec<(JobId, String)>,
    /// Results that came under a claim that is no longer theirs, and changed nothing.
    pub stale: Vec<JobId>,
    /// Results that could not be written yet, since others held what that takes: the worker brings them again.
    pub left: Vec<ClaimId>,
    /// Jobs of this worker that were cancelled while they run: their handlers have to stop. They are named by every turn until they end.
    pub cancelled: Vec<JobId>,
    /// When the next turn can start something without anything else happening; not after `now` means at once.
    pub next_at: Option<Timestamp>,
}

/// What a store says of the jobs that a worker runs (R85).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadBack {
    /// Of the claims that the worker knows of those that it still has.
    pub held: BTreeSet<ClaimId>,
    /// Jobs that were started for it, which it does not know of: the turn that did so was not answered.
    pub started: Vec<Started>,
}

/// A job to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// The job.
    pub job: JobId,
    /// Its claim.
    pub claim: ClaimId,
    /// The stored name of its contract.
    pub kind: Arc<str>,
    /// The queue.
    pub queue: Arc<str>,
    /// The contract as JSON.
    pub payload: String,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The admission instant (R49).
    pub admitted_at: Timestamp,
}
