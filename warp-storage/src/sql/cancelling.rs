//! A job that is to be cancelled, as it was seen.

use serde::Deserialize;
use warp_policy::admission::KeyId;
use warp_policy::ids::{JobId, LaneId, WorkerId};

use super::log::LogLines;
use crate::model::{Cancelled, Event, JobState};

/// What `cancelling.sql` answers.
#[derive(Debug, Deserialize)]
pub(crate) struct ToCancel {
    pub(crate) job: Option<SeenJob>,
}

/// Where a job is.
#[derive(Debug, Deserialize)]
pub(crate) struct SeenJob {
    pub(crate) state: JobState,
    pub(crate) lane: Option<LaneId>,
    /// The key set of its lane.
    pub(crate) keys: Vec<KeyId>,
    #[cfg(feature = "postgres")]
    pub(crate) worker: Option<WorkerId>,
    #[serde(deserialize_with = "super::documents::truth")]
    is_cancelled: bool,
}

impl ToCancel {
    /// The job, if there is anything to change; else what there is to say of it.
    pub(crate) fn left_to_do(self) -> Result<SeenJob, Cancelled> {
        match self.job {
            None => Err(Cancelled::Unknown),
            Some(job) if job.state.is_final() => Err(Cancelled::Ended),
            Some(job) if job.is_cancelled => Err(Cancelled::Stopping),
            Some(job) => Ok(job),
        }
    }
}

impl SeenJob {
    /// What comes of cancelling it, with the line of the log that says so.
    pub(crate) fn cancelled(&self, job: JobId) -> (Cancelled, LogLines) {
        let mut log = LogLines::default();
        if self.state == JobState::Processing {
            log.add(job, None, &Event::Stopping, None);
            (Cancelled::Stopping, log)
        } else {
            log.cancelled(job, None);
            (Cancelled::Deleted, log)
        }
    }
}
