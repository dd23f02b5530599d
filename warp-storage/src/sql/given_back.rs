//! What a worker ran that left, or died.

use serde::Serialize;
use warp_policy::Timestamp;
use warp_policy::ids::{JobId, WorkerId};

use super::documents::RunningJobs;
use super::log::LogLines;
use crate::model::{Event, JobState, Sweep};

/// A job that a worker ran, as `give_back.sql` takes it. A place of none is kept.
#[derive(Debug, Serialize)]
pub(crate) struct Back {
    job: JobId,
    state: JobState,
    place: Option<Timestamp>,
    lost: u32,
    error: Option<String>,
    ended_at: Option<Timestamp>,
}

/// A worker left: its jobs go back with their places, and no attempt was used (R83).
pub(crate) fn returned(running: &RunningJobs, worker: WorkerId, log: &mut LogLines) -> Vec<Back> {
    let back = running.jobs.iter().map(|job| {
        log.add(job.id, Some(worker), &Event::Returned, None);
        Back {
            job: job.id,
            state: JobState::Enqueued,
            place: None,
            lost: 0,
            error: None,
            ended_at: None,
        }
    });
    back.collect()
}

/// A worker died: its jobs become ready with a new place, or fail where that has happened too often (R80, R84).
pub(crate) fn lost(
    running: &RunningJobs,
    worker: WorkerId,
    sweep: Sweep,
    now: Timestamp,
    log: &mut LogLines,
) -> Vec<Back> {
    let together = running.jobs.len();
    let back = running.jobs.iter().map(|job| {
        log.add(job.id, None, &Event::Lost { worker, together }, None);
        let lost = job.lost + 1;
        let row = Back {
            job: job.id,
            state: JobState::Enqueued,
            place: Some(now),
            lost: 1,
            error: None,
            ended_at: None,
        };
        if lost < sweep.max_lost {
            return row;
        }
        let error = format!(
            "its worker died {lost} times; at most {} are allowed",
            sweep.max_lost
        );
        log.failed(job.id, None, &error);
        Back {
            state: JobState::Failed,
            error: Some(error),
            ended_at: Some(now),
            ..row
        }
    });
    back.collect()
}
