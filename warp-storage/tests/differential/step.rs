//! One step of a history, told with the numbers of its own jobs, workers and starts.

use warp_policy::Timestamp;
use warp_policy::ids::WorkerId;
use warp_storage::model::{
    Cancelled, Dispatched, End, Job, JobFilter, NewJob, NewWorker, Sweep, Swept,
};

/// What happens. Jobs, workers and starts are counted from 0 in the order in which they came.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Enqueue(Vec<NewJob>),
    /// A foreign hand on a job's row.
    Damage {
        job: usize,
        text: String,
    },
    Register(NewWorker),
    Turn(Turn),
    Cancel(usize),
    Heartbeat(usize),
    Drain(usize),
    Deregister(usize),
    Sweep(Sweep),
    SetClock(Timestamp),
    List(JobFilter),
}

/// A worker's turn.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub(crate) worker: usize,
    pub(crate) number: u64,
    pub(crate) reports: Vec<Report>,
    pub(crate) room: usize,
    pub(crate) fetch: usize,
}

/// How a start ended.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    pub(crate) start: usize,
    pub(crate) end: End,
}

/// What a store answered, in the numbers of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Done,
    Cancelled(Cancelled),
    Gone(WorkerId),
    Turn(Dispatched),
    Swept(Swept),
    Listed(Vec<Job>),
}
