//! Workers.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use warp_policy::ids::WorkerId;

use super::Event;

/// A worker that begins.
#[derive(Clone, Debug)]
pub struct NewWorker {
    /// A name for people; need not be unique.
    pub name: String,
    /// The queues it serves.
    pub queues: BTreeSet<Arc<str>>,
    /// The kinds it has handlers for, older names included (R27).
    pub kinds: BTreeSet<Arc<str>>,
    /// After so long a silence it is dead (R80).
    pub lease: Duration,
}

/// How to sweep.
#[derive(Clone, Copy, Debug)]
pub struct Sweep {
    /// At so many attempts lost with their worker a job fails (R84).
    pub max_lost: u32,
}

/// What a sweep did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Workers that were declared dead, each with the number of jobs that were lost with it.
    pub dead: Vec<(WorkerId, usize)>,
    /// Lanes that slept although they could go: each is a lost wake-up.
    pub repaired: usize,
    /// Limiter rows that were forgotten (R68).
    pub forgotten: usize,
}

/// How a running job is lost.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Loss<'a> {
    /// Its worker died.
    WithWorker { worker: WorkerId, together: usize },
    /// Its worker could not write how it ended.
    Disowned { worker: WorkerId, error: &'a str },
}

impl Loss<'_> {
    pub(crate) fn event(self) -> Event {
        match self {
            Self::WithWorker { worker, together } => Event::Lost { worker, together },
            Self::Disowned { error, .. } => Event::Disowned {
                error: error.to_owned(),
            },
        }
    }

    /// Whose line in the log it is.
    pub(crate) fn told_by(self) -> Option<WorkerId> {
        match self {
            Self::WithWorker { .. } => None,
            Self::Disowned { worker, .. } => Some(worker),
        }
    }

    /// Why the job fails that was lost for the last time.
    pub(crate) fn error(self, lost: u32, sweep: Sweep) -> String {
        let most = sweep.max_lost;
        match self {
            Self::WithWorker { .. } => {
                format!("its worker died {lost} times; at most {most} are allowed")
            }
            Self::Disowned { error, .. } => {
                format!(
                    "its result cannot be written, which was tried {lost} times of at most {most}: {error}"
                )
            }
        }
    }
}
