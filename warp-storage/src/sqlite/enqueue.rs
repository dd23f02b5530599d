//! Adding jobs.

use std::sync::Arc;

use serde::Serialize;
use sqlx::{Row, SqliteConnection};
use warp_policy::Timestamp;
use warp_policy::ids::JobId;

use super::error::SqliteError;
use super::statements::{ENQUEUE, ENQUEUE_LOG};
use super::{Inner, writer};
use crate::model::{Event, JobState, NewJob, Ready};
use crate::sql::documents::{json, rank};
use crate::store::{CallersConnection, CallersTransaction};

/// A job as `enqueue.sql` takes it.
#[derive(Serialize)]
struct NewRow {
    kind: Arc<str>,
    queue: Arc<str>,
    rank: i64,
    place: Timestamp,
    state: JobState,
    explicit: String,
    payload: String,
}

#[derive(Serialize)]
struct NewLine {
    job: JobId,
    event: String,
}

/// The two statements that add jobs, with the second one's input still to come.
struct Enqueueing {
    places: Vec<Timestamp>,
    jobs: String,
    now: Timestamp,
}

impl Inner {
    pub(super) async fn enqueue(&self, jobs: Vec<NewJob>) -> Result<Vec<JobId>, SqliteError> {
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        let mut session = self.writer.begin().await?;
        let enqueueing = Enqueueing::new(jobs, self.clock.now());
        let rows = session.rows(enqueueing.jobs(&self.id)).await?;
        let ids = ids(&rows).map_err(|error| SqliteError::of(&self.file, error))?;
        session.execute(enqueueing.lines(&ids)).await?;
        session.commit().await?;
        Ok(ids)
    }

    /// Adds jobs in a caller's transaction; they become ready, and visible, when it commits.
    pub(super) async fn enqueue_in(
        &self,
        connection: &mut SqliteConnection,
        jobs: Vec<NewJob>,
    ) -> Result<Vec<JobId>, SqliteError> {
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        let of = |error| SqliteError::of(&self.file, error);
        let enqueueing = Enqueueing::new(jobs, self.clock.now());
        let rows = enqueueing.jobs(&self.id).fetch_all(&mut *connection).await;
        let rows = match rows {
            // Another database may have no such table.
            Err(sqlx::Error::Database(error)) if error.message().contains("no such table") => {
                Vec::new()
            }
            rows => rows.map_err(of)?,
        };
        let ids = ids(&rows).map_err(of)?;
        if ids.is_empty() {
            return Err(SqliteError::OtherDatabase {
                file: self.file.clone(),
            });
        }
        enqueueing
            .lines(&ids)
            .execute(connection)
            .await
            .map_err(of)?;
        Ok(ids)
    }
}

impl Enqueueing {
    fn new(jobs: Vec<NewJob>, now: Timestamp) -> Self {
        let rows: Vec<NewRow> = jobs.into_iter().map(|job| new_row(job, now)).collect();
        Self {
            places: rows.iter().map(|row| row.place).collect(),
            jobs: json(&rows),
            now,
        }
    }

    fn jobs(&self, file_id: &str) -> writer::Statement {
        sqlx::query(ENQUEUE)
            .bind(self.jobs.clone())
            .bind(self.now.as_micros())
            .bind(file_id.to_owned())
    }

    fn lines(&self, ids: &[JobId]) -> writer::Statement {
        let lines = ids.iter().zip(&self.places).map(|(&job, &place)| NewLine {
            job,
            event: json(&Event::Enqueued { place }),
        });
        sqlx::query(ENQUEUE_LOG)
            .bind(json(&lines.collect::<Vec<_>>()))
            .bind(self.now.as_micros())
    }
}

fn new_row(job: NewJob, now: Timestamp) -> NewRow {
    let place = match job.ready {
        Ready::Now => now,
        Ready::In(delay) => now.plus(delay),
        Ready::At(at) => at.max(now),
    };
    NewRow {
        kind: job.kind,
        queue: job.queue,
        rank: rank(job.priority),
        place,
        state: if place > now {
            JobState::Scheduled
        } else {
            JobState::Enqueued
        },
        explicit: json(&job.explicit),
        payload: job.payload,
    }
}

/// The ids of new rows. SQLite does not promise in which order it returns them, but they ascend in the order of the input.
fn ids(rows: &[sqlx::sqlite::SqliteRow]) -> Result<Vec<JobId>, sqlx::Error> {
    let ids: Result<Vec<i64>, _> = rows.iter().map(|row| row.try_get(0)).collect();
    let mut ids = ids?;
    ids.sort_unstable();
    Ok(ids.into_iter().map(JobId::new).collect())
}

impl CallersTransaction for SqliteConnection {
    fn connection(&mut self) -> &mut CallersConnection {
        self
    }
}

impl CallersTransaction for sqlx::Transaction<'_, sqlx::Sqlite> {
    fn connection(&mut self) -> &mut CallersConnection {
        &mut **self
    }
}
