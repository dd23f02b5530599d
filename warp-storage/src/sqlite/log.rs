//! Lines of the job log while a turn goes on (R110).

use serde::Serialize;
use warp_policy::Timestamp;
use warp_policy::ids::{ClaimId, JobId, WorkerId};

use super::documents::json;
use super::error::SqliteError;
use super::statements::LOG_WRITE;
use super::writer::Session;
use crate::model::{Counter, Event};

/// The lines of a turn, in the order in which they will stand in the log.
#[derive(Debug, Default)]
pub(super) struct LogLines {
    lines: Vec<LogLine>,
    last_line: i64,
}

#[derive(Debug, Serialize)]
struct LogLine {
    id: i64,
    job: JobId,
    worker: Option<WorkerId>,
    event: String,
    counter: Option<Counter>,
}

impl LogLines {
    pub(super) fn add(
        &mut self,
        job: JobId,
        worker: Option<WorkerId>,
        event: &Event,
        counter: Option<Counter>,
    ) {
        self.lines.push(LogLine {
            id: 0,
            job,
            worker,
            event: json(event),
            counter,
        });
    }

    pub(super) fn failed(&mut self, job: JobId, worker: Option<WorkerId>, error: &str) {
        let event = Event::Failed {
            error: error.to_owned(),
        };
        self.add(job, worker, &event, Some(Counter::Failed));
    }

    /// Tells what the last line of the log is, which these follow.
    pub(super) fn follow(&mut self, last_line: i64) {
        self.last_line = last_line;
    }

    /// The claim of the start that the next line tells of.
    pub(super) fn next_claim(&self) -> ClaimId {
        ClaimId::new(self.ids().nth(self.lines.len()).unwrap_or(i64::MAX))
    }

    fn ids(&self) -> std::ops::RangeInclusive<i64> {
        self.last_line + 1..=i64::MAX
    }

    pub(super) async fn write(
        mut self,
        session: &mut Session,
        now: Timestamp,
    ) -> Result<(), SqliteError> {
        if self.lines.is_empty() {
            return Ok(());
        }
        let ids = self.ids();
        for (line, id) in self.lines.iter_mut().zip(ids) {
            line.id = id;
        }
        session
            .execute(
                sqlx::query(LOG_WRITE)
                    .bind(json(&self.lines))
                    .bind(now.as_micros()),
            )
            .await
    }
}
