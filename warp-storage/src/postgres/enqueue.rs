//! Adding jobs.

use std::sync::Arc;

use serde::Serialize;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};
use warp_policy::Timestamp;
use warp_policy::ids::JobId;

use super::Inner;
use super::error::PostgresError;
use super::session::{Statement, statement};
use crate::model::{NewJob, Ready};
use crate::sql::documents::{json, rank};
use crate::store::{CallersConnection, CallersTransaction};

/// A job as `enqueue.sql` takes it.
#[derive(Serialize)]
struct NewRow {
    kind: Arc<str>,
    queue: Arc<str>,
    rank: i64,
    at: Option<Timestamp>,
    /// In microseconds.
    after: i64,
    explicit: String,
    payload: String,
}

/// The longest delay, some 146,000 years: with the present instant it still is one.
const LONGEST_DELAY: i64 = i64::MAX / 2;

impl Inner {
    pub(super) async fn enqueue(&self, jobs: Vec<NewJob>) -> Result<Vec<JobId>, PostgresError> {
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        let jobs = rows(jobs);
        let rows = self.rows(|| self.statement(jobs.clone())).await?;
        self.ids(&rows)
    }

    /// Adds jobs in a caller's transaction; they become ready, and visible, when it commits.
    pub(super) async fn enqueue_in(
        &self,
        connection: &mut PgConnection,
        jobs: Vec<NewJob>,
    ) -> Result<Vec<JobId>, PostgresError> {
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        let of = |error| PostgresError::of(&self.place, error);
        // A statement on tables that are not there would fail the caller's transaction.
        let is_there = statement(&self.statements.is_there)
            .fetch_one(&mut *connection)
            .await
            .and_then(|row| row.try_get(0));
        let rows = if is_there.map_err(of)? {
            let statement = self.statement(rows(jobs));
            let rows = statement.fetch_all(&mut *connection).await.map_err(of)?;
            if let Some(notice) = self.notice_to_all() {
                notice.execute(connection).await.map_err(of)?;
            }
            rows
        } else {
            Vec::new()
        };
        if rows.is_empty() {
            let place = self.place.clone();
            return Err(PostgresError::OtherDatabase { place });
        }
        self.ids(&rows)
    }

    fn statement(&self, jobs: String) -> Statement {
        statement(&self.statements.enqueue)
            .bind(jobs)
            .bind(self.time.given())
            .bind(self.id.clone())
    }

    fn ids(&self, rows: &[PgRow]) -> Result<Vec<JobId>, PostgresError> {
        rows.iter()
            .map(|row| row.try_get(0).map(JobId::new))
            .collect::<Result<_, _>>()
            .map_err(|error| PostgresError::of(&self.place, error))
    }
}

fn rows(jobs: Vec<NewJob>) -> String {
    json(&jobs.into_iter().map(new_row).collect::<Vec<_>>())
}

fn new_row(job: NewJob) -> NewRow {
    let (at, after) = match job.ready {
        Ready::Now => (None, 0),
        Ready::In(delay) => (
            None,
            i64::try_from(delay.as_micros()).unwrap_or(LONGEST_DELAY),
        ),
        Ready::At(at) => (Some(at), 0),
    };
    NewRow {
        kind: job.kind,
        queue: job.queue,
        rank: rank(job.priority),
        at,
        after: after.min(LONGEST_DELAY),
        explicit: json(&job.explicit),
        payload: job.payload,
    }
}

impl CallersTransaction for PgConnection {
    fn connection(&mut self) -> &mut CallersConnection {
        self
    }
}

impl CallersTransaction for sqlx::Transaction<'_, sqlx::Postgres> {
    fn connection(&mut self) -> &mut CallersConnection {
        &mut **self
    }
}
