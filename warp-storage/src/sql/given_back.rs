//! What a worker ran that left, or died.

use serde::Serialize;
use warp_policy::Timestamp;
use warp_policy::ids::{JobId, WorkerId};

use super::documents::RunningJobs;
use super::log::LogLines;
use crate::model::{Event, JobState, Loss, Sweep};

/// A job that a worker ran, as `give_back.sql` takes it. A place of none is kept.
#[derive(Debug, Serialize)]
pub(crate) struct Back {
    job: JobId,
    state: JobState,
    place: Option<Timestamp>,
    /// How many attempts were not used.
    attempts: u32,
    lost: u32,
    error: Option<String>,
    ended_at: Option<Timestamp>,
}

/// A worker left: its jobs go back with their places, and no attempt was used (R83). Those that were cancelled end.
pub(crate) fn returned(
    running: &RunningJobs,
    worker: WorkerId,
    now: Timestamp,
    log: &mut LogLines,
) -> Vec<Back> {
    let back = running.jobs.iter().map(|job| {
        let goes_to = |state: JobState| Back {
            job: job.id,
            state,
            place: None,
            attempts: u32::from(!state.is_final()),
            lost: 0,
            error: None,
            ended_at: state.is_final().then_some(now),
        };
        if job.is_cancelled {
            log.cancelled(job.id, Some(worker));
            return goes_to(JobState::Deleted);
        }
        log.add(job.id, Some(worker), &Event::Returned, None);
        goes_to(JobState::Enqueued)
    });
    back.collect()
}

/// Jobs are lost: they become ready with a new place, or fail where that has happened too often (R80, R84). Those that were cancelled end.
pub(crate) fn lost(
    running: &RunningJobs,
    how: Loss<'_>,
    sweep: Sweep,
    now: Timestamp,
    log: &mut LogLines,
) -> Vec<Back> {
    let by = how.told_by();
    let back = running.jobs.iter().map(|job| {
        log.add(job.id, by, &how.event(), None);
        let lost = job.lost + 1;
        let goes_to = |state: JobState| Back {
            job: job.id,
            state,
            place: Some(now),
            attempts: 1,
            lost: 1,
            error: None,
            ended_at: state.is_final().then_some(now),
        };
        if job.is_cancelled {
            log.cancelled(job.id, by);
            return goes_to(JobState::Deleted);
        }
        if lost < sweep.max_lost {
            return goes_to(JobState::Enqueued);
        }
        let error = how.error(lost, sweep);
        log.failed(job.id, by, &error);
        Back {
            error: Some(error),
            ..goes_to(JobState::Failed)
        }
    });
    back.collect()
}
