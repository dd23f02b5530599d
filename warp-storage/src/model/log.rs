//! The job log: each decision with key, numbers and reason (R110).

use std::fmt;

use serde::{Deserialize, Serialize};
use warp_policy::Timestamp;
use warp_policy::admission::{Cause, Refusal, Want};
use warp_policy::ids::{ClaimId, WorkerId};

/// One line of a job's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// When.
    pub at: Timestamp,
    /// Which worker wrote it; `None` for the publisher.
    pub worker: Option<WorkerId>,
    /// What happened.
    pub event: Event,
}

/// What happened to a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// It was enqueued, to become ready at `place`.
    Enqueued {
        /// When it becomes ready.
        place: Timestamp,
    },
    /// A policy refused it; it waits in line.
    Waiting(Refusal),
    /// A policy in skip mode refused it; it ends.
    Skipped(Refusal),
    /// It was admitted.
    Started {
        /// The number of the attempt, from 1.
        attempt: u32,
        /// The claim.
        claim: ClaimId,
    },
    /// Its handler returned `Ok`.
    Succeeded,
    /// Its attempt failed and another will follow.
    Retried {
        /// Why it failed.
        error: String,
        /// When it becomes ready again.
        place: Timestamp,
    },
    /// It failed for good.
    Failed {
        /// Why.
        error: String,
    },
    /// It went back to the queue through no fault of its own; no attempt was used (R83).
    Returned,
    /// It was cancelled while it ran; its handler is told to stop.
    Stopping,
    /// It was cancelled, and ends.
    Cancelled,
    /// Its worker died; it went back to the queue, or failed where that happened too often (R80, R84).
    Lost {
        /// The worker.
        worker: WorkerId,
        /// How many jobs were lost with it.
        together: usize,
    },
    /// Its worker could not write how it ended, and gave it up; it went back to the queue, or failed where that happened too often (R85).
    Disowned {
        /// What the store says.
        error: String,
    },
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Enqueued { place } => write!(f, "enqueued, ready at {place}"),
            Self::Waiting(refusal) => write!(f, "waiting: {}", Reason(refusal)),
            Self::Skipped(refusal) => write!(f, "skipped: {}", Reason(refusal)),
            Self::Started { attempt, claim } => {
                write!(f, "started attempt {attempt} as claim {claim}")
            }
            Self::Succeeded => write!(f, "succeeded"),
            Self::Retried { error, place } => {
                write!(f, "attempt failed, next one at {place}: {error}")
            }
            Self::Failed { error } => write!(f, "failed: {error}"),
            Self::Returned => write!(f, "returned to the queue"),
            Self::Stopping => write!(f, "cancelled; its handler is told to stop"),
            Self::Cancelled => write!(f, "cancelled"),
            Self::Lost { worker, together } => {
                write!(f, "lost with worker {worker}, one of {together} jobs")
            }
            Self::Disowned { error } => {
                write!(f, "given up, since its result cannot be written: {error}")
            }
        }
    }
}

struct Reason<'a>(&'a Refusal);

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refusal {
            key,
            size,
            used,
            cause,
        } = self.0;
        write!(f, "{key}: ")?;
        match size {
            Want::Slot { limit } => write!(f, "{used} of {limit} running")?,
            Want::Token(size) => {
                write!(
                    f,
                    "{used} of {} starts per {:?} ({})",
                    size.count,
                    size.window.as_duration(),
                    size.style
                )?;
            }
            _ => write!(f, "{used} used")?,
        }
        match cause {
            Cause::Line => write!(f, ", others are ahead in the line"),
            Cause::Paused => write!(f, ", paused"),
            _ => Ok(()),
        }
    }
}
