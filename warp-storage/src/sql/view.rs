//! A job as a query shows it.

use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use warp_policy::Timestamp;
use warp_policy::admission::{Family, KeyId};
use warp_policy::ids::{ClaimId, JobId, WorkerId};
use warp_policy::key::Key;

use super::documents::order;
use crate::model::{Job, JobState, Waiting};
use crate::stamp;

/// A job as `job.sql` answers it.
#[derive(Debug, Deserialize)]
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
    cancelled_at: Option<Timestamp>,
    ended_at: Option<Timestamp>,
    explicit: String,
    stamp: Option<String>,
    error: Option<String>,
    payload: String,
    sleep_family: Option<Family>,
    sleep_key: Option<Key>,
    next_at: Option<Timestamp>,
}

/// The job of a document, or what of it cannot be read. A scheduled job is ready from its place on, whether or not anybody has written so.
pub(crate) fn job(text: &str, now: Timestamp) -> Result<Job, String> {
    let row: JobDocument = read("the row of a job", text)?;
    let state = match row.state {
        JobState::Scheduled if row.place <= now => JobState::Enqueued,
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
        explicit: read(
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
        cancelled_at: row.cancelled_at,
        ended_at: row.ended_at,
        error: row.error,
    })
}

/// Reads a text that a row holds, or says what cannot be read.
pub(crate) fn read<D: DeserializeOwned>(what: &str, text: &str) -> Result<D, String> {
    serde_json::from_str(text).map_err(|error| format!("{what}: {error}"))
}
