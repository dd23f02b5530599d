//! Waiting jobs whose rows cannot be judged: they fail with a clear reason, and nobody else notices.

use sqlx::Row;
use warp_policy::Timestamp;
use warp_policy::admission::KeyId;
use warp_policy::ids::LaneId;

use super::error::SqliteError;
use super::statements::{LOOK_AT_KEYS, MEND, MEND_EMPTY, MEND_HEADS};
use super::writer::Session;
use crate::sql::documents::json;
use crate::sql::judging::Unreadable;

/// Fails jobs and takes them out of their lanes.
pub(super) async fn mend(
    session: &mut Session,
    jobs: &[Unreadable],
    now: Timestamp,
) -> Result<(), SqliteError> {
    session
        .execute(sqlx::query(MEND).bind(json(jobs)).bind(now.as_micros()))
        .await?;
    let lanes: Vec<LaneId> = jobs.iter().map(|job| job.lane).collect();
    take_out_of(session, &lanes, now).await
}

/// Puts lanes in order that jobs have left. What those that are empty now were kept as elders is for others (R46).
pub(super) async fn take_out_of(
    session: &mut Session,
    lanes: &[LaneId],
    now: Timestamp,
) -> Result<(), SqliteError> {
    let lanes = json(lanes);
    session
        .execute(sqlx::query(MEND_HEADS).bind(lanes.clone()))
        .await?;
    let mut keys: Vec<KeyId> = Vec::new();
    for row in session.rows(sqlx::query(MEND_EMPTY).bind(lanes)).await? {
        let text: String = row
            .try_get(0)
            .map_err(|error| session.damaged(error.to_string()))?;
        let of_lane: Vec<KeyId> =
            serde_json::from_str(&text).map_err(|error| session.damaged(error.to_string()))?;
        keys.extend(of_lane);
    }
    session
        .execute(
            sqlx::query(LOOK_AT_KEYS)
                .bind(json(&keys))
                .bind(now.as_micros()),
        )
        .await
}
