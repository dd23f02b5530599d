//! What goes into a store and what comes out.

mod counters;
mod dispatch;
mod job;
mod log;
mod worker;

pub use self::counters::{Counter, Counters};
pub use self::dispatch::{
    Dispatch, Dispatched, End, Finished, ReadBack, Resolution, Resolver, Started, Unresolved,
};
pub use self::job::{Cancelled, Job, JobFilter, JobState, NewJob, Ready, Waiting};
pub use self::log::{Event, LogEntry};
pub(crate) use self::worker::Loss;
pub use self::worker::{NewWorker, Sweep, Swept};
