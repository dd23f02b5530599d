//! What is asked from outside a turn.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use sqlx::Row;
use warp_policy::Timestamp;
use warp_policy::admission::{Family, KeyId};
use warp_policy::ids::{ClaimId, JobId, WorkerId};
use warp_policy::key::Key;

use super::Inner;
use super::documents::order;
use super::error::SqliteError;
use super::statements::{COUNTERS, JOB, JOB_LIST, LOG_READ};
use super::writer::{Statement, text};
use crate::model::{Counters, Job, JobFilter, JobState, LogEntry, Waiting};
use crate::stamp;

/// A job as `job.sql` answers it.
#[derive(Deserialize)]
struct JobDocument {
    id: JobId,
    state: JobState,
    queue: Arc<str>,
    kind: Arc<str>,
    rank: i64,
    place: Timestamp,
    attempts: u32,
    lost: u32,
    worker: Option<WorkerId>,
    claim: Option<ClaimId>,
    enqueued_at: Timestamp,
    admitted_at: Option<Timestamp>,
    ended_at: Option<Timestamp>,
    explicit: String,
    stamp: Option<String>,
    error: Option<String>,
    payload: String,
    sleep_family: Option<Family>,
    sleep_key: Option<Key>,
    next_at: Option<Timestamp>,
}

impl Inner {
    pub(super) async fn job(&self, id: JobId) -> Result<Option<Job>, SqliteError> {
        let rows = self.query(sqlx::query(JOB).bind(id.get())).await?;
        rows.first().map(|row| self.view(row)).transpose()
    }

    pub(super) async fn jobs(&self, filter: JobFilter) -> Result<Vec<Job>, SqliteError> {
        let statement = sqlx::query(JOB_LIST)
            .bind(filter.after.map_or(i64::MIN, JobId::get))
            .bind(filter.state.map(|state| state.to_string()))
            .bind(filter.kind.map(|kind| kind.to_string()))
            .bind(filter.queue.map(|queue| queue.to_string()))
            .bind(i64::try_from(filter.limit).unwrap_or(i64::MAX))
            .bind(self.clock.now().as_micros());
        self.query(statement)
            .await?
            .iter()
            .map(|row| self.view(row))
            .collect()
    }

    pub(super) async fn log(&self, id: JobId) -> Result<Vec<LogEntry>, SqliteError> {
        let rows = self.query(sqlx::query(LOG_READ).bind(id.get())).await?;
        let entry = |row: &sqlx::sqlite::SqliteRow| {
            let of = |error| SqliteError::of(&self.file, error);
            Ok(LogEntry {
                at: Timestamp::from_micros(row.try_get(0).map_err(of)?),
                worker: row
                    .try_get::<Option<i64>, _>(1)
                    .map_err(of)?
                    .map(WorkerId::new),
                event: self.read(
                    &format!("the log of job {id}"),
                    &row.try_get::<String, _>(2).map_err(of)?,
                )?,
            })
        };
        rows.iter().map(entry).collect()
    }

    pub(super) async fn counters(&self) -> Result<Counters, SqliteError> {
        let of = |error| SqliteError::of(&self.file, error);
        let mut counters = BTreeMap::new();
        for row in self.query(sqlx::query(COUNTERS)).await? {
            let name: String = row.try_get(0).map_err(of)?;
            let count: i64 = row.try_get(1).map_err(of)?;
            // A counter that this version does not know is another version's business.
            if let Ok(counter) = serde_json::from_value(name.into()) {
                counters.insert(counter, count.unsigned_abs());
            }
        }
        Ok(Counters(counters))
    }

    async fn query(
        &self,
        statement: Statement,
    ) -> Result<Vec<sqlx::sqlite::SqliteRow>, SqliteError> {
        statement
            .fetch_all(&self.pool)
            .await
            .map_err(|error| SqliteError::of(&self.file, error))
    }

    fn view(&self, row: &sqlx::sqlite::SqliteRow) -> Result<Job, SqliteError> {
        let text = text(row, 0).map_err(|error| SqliteError::of(&self.file, error))?;
        let row: JobDocument = self.read("the row of a job", &text.unwrap_or_default())?;
        let state = match row.state {
            JobState::Scheduled if row.place <= self.clock.now() => JobState::Enqueued,
            state => state,
        };
        Ok(Job {
            id: row.id,
            kind: row.kind,
            queue: row.queue,
            payload: row.payload,
            priority: order(row.rank, row.place, row.id).priority(),
            state,
            place: row.place,
            attempts: row.attempts,
            lost: row.lost,
            explicit: self.read(
                &format!("what was given with job {}", row.id),
                &row.explicit,
            )?,
            stamp: row.stamp.map(|text| stamp::read(&text)),
            waiting: row
                .sleep_family
                .zip(row.sleep_key)
                .map(|(family, key)| Waiting {
                    key: KeyId { family, key },
                    next_at: row.next_at,
                }),
            claim: row.worker.zip(row.claim),
            enqueued_at: row.enqueued_at,
            admitted_at: row.admitted_at,
            ended_at: row.ended_at,
            error: row.error,
        })
    }

    fn read<D: DeserializeOwned>(&self, what: &str, text: &str) -> Result<D, SqliteError> {
        serde_json::from_str(text).map_err(|error| SqliteError::Damaged {
            file: self.file.clone(),
            what: format!("{what}: {error}"),
        })
    }
}
