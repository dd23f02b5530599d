//! What a handler learns about the attempt it runs.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use warp_policy::Timestamp;
use warp_policy::ids::{ClaimId, JobId};

/// What a handler learns about the attempt it runs.
#[derive(Debug)]
pub struct JobContext {
    pub(crate) id: JobId,
    pub(crate) kind: Arc<str>,
    pub(crate) queue: Arc<str>,
    pub(crate) attempt: u32,
    pub(crate) max_attempts: u32,
    pub(crate) admitted_at: Timestamp,
    pub(crate) claim: ClaimId,
    pub(crate) cancelled: CancellationToken,
}

impl JobContext {
    /// The job.
    pub const fn id(&self) -> JobId {
        self.id
    }

    /// The stored name of its contract, which may be an older one (R7).
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The queue it came through.
    pub fn queue(&self) -> &str {
        &self.queue
    }

    /// The number of this attempt, from 1. Waiting for a policy is no attempt (R42).
    pub const fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Whether an `Err` of this attempt is final.
    pub const fn is_last_attempt(&self) -> bool {
        self.attempt >= self.max_attempts
    }

    /// The admission instant on the store's clock: the start that rates are judged by (R49).
    pub const fn admitted_at(&self) -> Timestamp {
        self.admitted_at
    }

    /// A number that ascends with every start in the store. Downstream systems that refuse a smaller number than they have seen are
    /// safe from a worker that was thought dead (R81).
    pub const fn fencing_token(&self) -> i64 {
        self.claim.get()
    }

    /// Ends when the worker wants this attempt to stop. An attempt that returns `Err` then has not failed: its job goes back to the queue, which
    /// is no attempt; one that returns `Ok` has succeeded. Cancel safe.
    ///
    /// That is so
    /// - when the job was cancelled (see [`Publisher::cancel`](crate::Publisher::cancel)): it ends as `Deleted` instead of going back, and the
    ///   attempt is dropped one second later;
    /// - at a shutdown whose grace time has run out: the attempt is dropped one second later (R83);
    /// - when the worker could not renew its lease for half its length: the attempt is dropped when two thirds have passed (R81).
    pub async fn cancelled(&self) {
        self.cancelled.cancelled().await;
    }
}
