//! Jobs.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use warp_policy::admission::KeyId;
use warp_policy::ids::{ClaimId, JobId, WorkerId};
use warp_policy::precedence::ExplicitPolicies;
use warp_policy::{Stamp, Timestamp};

/// A job to enqueue.
#[derive(Clone, Debug)]
pub struct NewJob {
    /// The stored name of its contract.
    pub kind: Arc<str>,
    /// The queue.
    pub queue: Arc<str>,
    /// The contract as JSON.
    pub payload: String,
    /// Higher goes first.
    pub priority: i32,
    /// When it becomes ready.
    pub ready: Ready,
    /// The policies given at enqueue, already checked (R24).
    pub explicit: ExplicitPolicies,
}

/// When a job becomes ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a store must handle each")]
pub enum Ready {
    /// At once.
    Now,
    /// After this time on the store's clock.
    In(std::time::Duration),
    /// At this instant of the store's clock.
    At(Timestamp),
}

/// Where a job is in its life (R110).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum JobState {
    /// Not ready before a later instant.
    Scheduled,
    /// Ready: a worker may take it.
    Enqueued,
    /// In line for a key.
    Waiting,
    /// Its handler runs.
    Processing,
    /// Ended well.
    Succeeded,
    /// Ended after its last attempt, or with an error that no attempt can help.
    Failed,
    /// Ended without a result: skipped by a policy, or cancelled.
    Deleted,
}

impl JobState {
    /// Whether the job will never run again.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Deleted)
    }
}

impl fmt::Display for JobState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scheduled => "scheduled",
            Self::Enqueued => "enqueued",
            Self::Waiting => "waiting",
            Self::Processing => "processing",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Deleted => "deleted",
        })
    }
}

/// A job as a query shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// The stored name of its contract.
    pub kind: Arc<str>,
    /// The queue.
    pub queue: Arc<str>,
    /// The contract as JSON.
    pub payload: String,
    /// Higher goes first.
    pub priority: i32,
    /// Where it is in its life.
    pub state: JobState,
    /// When it became, or becomes, ready.
    pub place: Timestamp,
    /// Attempts so far, the running one included. Waiting is none (R42).
    pub attempts: u32,
    /// Attempts that were lost with their worker (R84).
    pub lost: u32,
    /// The policies given at enqueue.
    pub explicit: ExplicitPolicies,
    /// The policies it follows; `None` before its first judgement (R21), an error where the row cannot be read.
    pub stamp: Option<Result<Stamp, String>>,
    /// What it waits for.
    pub waiting: Option<Waiting>,
    /// The worker that runs it, and its claim.
    pub claim: Option<(WorkerId, ClaimId)>,
    /// When it was enqueued.
    pub enqueued_at: Timestamp,
    /// The admission instant of its last start (R49).
    pub admitted_at: Option<Timestamp>,
    /// When it was cancelled; one that runs ends when its handler has.
    pub cancelled_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Why its last attempt failed.
    pub error: Option<String>,
}

/// What a waiting job waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The key that refused the head of its lane.
    pub key: KeyId,
    /// When the lane is due, where that is known.
    pub next_at: Option<Timestamp>,
}

/// What came of cancelling a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing else to find")]
pub enum Cancelled {
    /// It did not run, and never will.
    Deleted,
    /// It runs. Its worker is told to stop the handler, and the job ends when that has stopped; its slots are held until then.
    Stopping,
    /// It had ended before. Nothing was changed.
    Ended,
    /// There is no such job.
    Unknown,
}

/// Which jobs to list; they come by ascending id.
#[derive(Clone, Debug)]
pub struct JobFilter {
    /// Only in this state.
    pub state: Option<JobState>,
    /// Only of this kind.
    pub kind: Option<Arc<str>>,
    /// Only in this queue.
    pub queue: Option<Arc<str>>,
    /// Only after this id: the last one of the page before.
    pub after: Option<JobId>,
    /// At most so many. Default 100.
    pub limit: usize,
}

impl Default for JobFilter {
    fn default() -> Self {
        Self {
            state: None,
            kind: None,
            queue: None,
            after: None,
            limit: 100,
        }
    }
}
