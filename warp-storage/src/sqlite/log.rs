//! How lines of the job log are written. The number of a start's line is its claim.

use serde::Serialize;
use warp_policy::Timestamp;
use warp_policy::ids::{ClaimId, JobId, WorkerId};

use super::error::SqliteError;
use super::statements::LOG_WRITE;
use super::writer::Session;
use crate::model::Event;
use crate::sql::documents::json;
use crate::sql::log::{LogLine, LogLines};

/// A line with its number.
#[derive(Serialize)]
struct NumberedLine<'a> {
    id: i64,
    #[serde(flatten)]
    line: &'a LogLine,
}

impl LogLines {
    /// Tells of a start, in a line that will follow those up to `last_line`. Returns its claim.
    pub(super) fn start(
        &mut self,
        job: JobId,
        worker: WorkerId,
        attempt: u32,
        last_line: i64,
    ) -> ClaimId {
        let number = ids(last_line).nth(self.lines.len());
        let claim = ClaimId::new(number.unwrap_or(i64::MAX));
        self.add(job, Some(worker), &Event::Started { attempt, claim }, None);
        claim
    }

    /// Writes the lines after the last one of the log.
    pub(super) async fn write(
        &self,
        session: &mut Session,
        last_line: i64,
        now: Timestamp,
    ) -> Result<(), SqliteError> {
        if self.lines.is_empty() {
            return Ok(());
        }
        let numbered = self.lines.iter().zip(ids(last_line));
        let lines: Vec<_> = numbered
            .map(|(line, id)| NumberedLine { id, line })
            .collect();
        session
            .execute(
                sqlx::query(LOG_WRITE)
                    .bind(json(&lines))
                    .bind(now.as_micros()),
            )
            .await
    }
}

fn ids(last_line: i64) -> std::ops::RangeInclusive<i64> {
    last_line + 1..=i64::MAX
}
