//! What is asked from outside a turn.

use std::collections::BTreeMap;

use serde::Deserialize;
use sqlx::Row;
use sqlx::postgres::PgRow;
use warp_policy::Timestamp;
use warp_policy::ids::{JobId, WorkerId};

use super::Inner;
use super::error::PostgresError;
use super::session::statement;
use crate::model::{Counters, Job, JobFilter, LogEntry};
use crate::sql::view;

/// The instant at which a job was shown.
#[derive(Deserialize)]
struct ShownAt {
    now: Timestamp,
}

impl Inner {
    pub(super) async fn job(&self, id: JobId) -> Result<Option<Job>, PostgresError> {
        let statement = statement(&self.statements.job)
            .bind(id.get())
            .bind(self.time.given());
        let rows = self.answer(statement).await?;
        rows.first().map(|row| self.view(row)).transpose()
    }

    pub(super) async fn jobs(&self, filter: JobFilter) -> Result<Vec<Job>, PostgresError> {
        let statement = statement(&self.statements.job_list)
            .bind(filter.after.map_or(i64::MIN, JobId::get))
            .bind(self.time.given())
            .bind(filter.state.map(|state| state.to_string()))
            .bind(filter.kind.map(|kind| kind.to_string()))
            .bind(filter.queue.map(|queue| queue.to_string()))
            .bind(i64::try_from(filter.limit).unwrap_or(i64::MAX));
        let rows = self.answer(statement).await?;
        rows.iter().map(|row| self.view(row)).collect()
    }

    pub(super) async fn log(&self, id: JobId) -> Result<Vec<LogEntry>, PostgresError> {
        let statement = statement(&self.statements.log_read).bind(id.get());
        let rows = self.answer(statement).await?;
        let of = |error| PostgresError::of(&self.place, error);
        let entry = |row: &PgRow| {
            let worker: Option<i64> = row.try_get(1).map_err(of)?;
            let event: String = row.try_get(2).map_err(of)?;
            Ok(LogEntry {
                at: Timestamp::from_micros(row.try_get(0).map_err(of)?),
                worker: worker.map(WorkerId::new),
                event: view::read(&format!("the log of job {id}"), &event)
                    .map_err(|what| self.damaged(what))?,
            })
        };
        rows.iter().map(entry).collect()
    }

    pub(super) async fn counters(&self) -> Result<Counters, PostgresError> {
        let of = |error| PostgresError::of(&self.place, error);
        let mut counters = BTreeMap::new();
        for row in self.rows(|| statement(&self.statements.counters)).await? {
            let name: String = row.try_get(0).map_err(of)?;
            let count: i64 = row.try_get(1).map_err(of)?;
            // A counter that this version does not know is another version's business.
            if let Ok(counter) = serde_json::from_value(name.into()) {
                counters.insert(counter, count.unsigned_abs());
            }
        }
        Ok(Counters(counters))
    }

    fn view(&self, row: &PgRow) -> Result<Job, PostgresError> {
        let text: String = row
            .try_get(0)
            .map_err(|error| PostgresError::of(&self.place, error))?;
        let damaged = |what| self.damaged(what);
        let ShownAt { now } = view::read("the row of a job", &text).map_err(damaged)?;
        view::job(&text, now).map_err(damaged)
    }

    pub(super) fn damaged(&self, what: String) -> PostgresError {
        let place = self.place.clone();
        PostgresError::Damaged { place, what }
    }
}
