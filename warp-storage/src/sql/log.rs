//! Lines of the job log while a turn goes on (R110).

use serde::Serialize;
use warp_policy::ids::{JobId, WorkerId};

use super::documents::json;
use crate::model::{Counter, Event};

/// The lines of a turn, in the order in which they will stand in the log.
#[derive(Debug, Default)]
pub(crate) struct LogLines {
    pub(crate) lines: Vec<LogLine>,
}

/// A line of the log as it is written.
#[derive(Debug, Serialize)]
pub(crate) struct LogLine {
    pub(crate) job: JobId,
    pub(crate) worker: Option<WorkerId>,
    pub(crate) event: String,
    pub(crate) counter: Option<Counter>,
}

impl LogLines {
    pub(crate) fn add(
        &mut self,
        job: JobId,
        worker: Option<WorkerId>,
        event: &Event,
        counter: Option<Counter>,
    ) {
        self.lines.push(LogLine {
            job,
            worker,
            event: json(event),
            counter,
        });
    }

    pub(crate) fn cancelled(&mut self, job: JobId, worker: Option<WorkerId>) {
        let counter = Some(Counter::DeletedCancelled);
        self.add(job, worker, &Event::Cancelled, counter);
    }

    pub(crate) fn failed(&mut self, job: JobId, worker: Option<WorkerId>, error: &str) {
        let event = Event::Failed {
            error: error.to_owned(),
        };
        self.add(job, worker, &event, Some(Counter::Failed));
    }
}
