//! Attempts that ended.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use warp_policy::Timestamp;
use warp_policy::admission::KeyId;
use warp_policy::ids::{ClaimId, JobId, WorkerId};

use super::documents::HeldSlot;
use super::log::LogLines;
use crate::model::{Counter, End, Event, Finished, JobState};

/// An ended attempt as `ends.sql` takes it.
#[derive(Debug, Serialize)]
pub(crate) struct EndRow<'a> {
    pub(crate) job: JobId,
    claim: ClaimId,
    state: JobState,
    place: Option<Timestamp>,
    back: u32,
    error: Option<&'a str>,
    ended_at: Option<Timestamp>,
}

/// The attempts that ended.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    pub(crate) freed: BTreeMap<KeyId, usize>,
    pub(crate) stale: Vec<JobId>,
    /// Whether one of them is ready again, now or later.
    pub(crate) comes_back: bool,
}

/// The attempts whose claims were still held.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Written {
    pub(crate) ended: BTreeSet<JobId>,
    /// Those that would have become ready again, had their jobs not been cancelled.
    pub(crate) cancelled: BTreeSet<JobId>,
}

impl Written {
    fn contains(&self, job: JobId) -> bool {
        self.ended.contains(&job) || self.cancelled.contains(&job)
    }
}

/// The rows to write, one for each claim.
pub(crate) fn end_rows<'a>(
    finished: impl IntoIterator<Item = &'a Finished>,
    now: Timestamp,
) -> Vec<EndRow<'a>> {
    let mut claims = BTreeSet::new();
    finished
        .into_iter()
        .filter(|finished| claims.insert((finished.job, finished.claim)))
        .map(|finished| end_row(finished, now))
        .collect()
}

fn end_row(finished: &Finished, now: Timestamp) -> EndRow<'_> {
    let ends = |state| EndRow {
        job: finished.job,
        claim: finished.claim,
        state,
        place: None,
        back: 0,
        error: None,
        ended_at: Some(now),
    };
    let goes_on = |state| EndRow {
        ended_at: None,
        ..ends(state)
    };
    match &finished.end {
        End::Succeeded => ends(JobState::Succeeded),
        End::Failed { error } => EndRow {
            error: Some(error),
            ..ends(JobState::Failed)
        },
        End::Retry { error, after } => {
            let place = now.plus(*after);
            let state = if place > now {
                JobState::Scheduled
            } else {
                JobState::Enqueued
            };
            EndRow {
                place: Some(place),
                error: Some(error),
                ..goes_on(state)
            }
        }
        End::Returned => EndRow {
            back: 1,
            ..goes_on(JobState::Enqueued)
        },
    }
}

impl Ended {
    /// What came of the ends. A result under another claim than the one that is held changes nothing (R81).
    pub(crate) fn of<'a>(
        finished: impl IntoIterator<Item = &'a Finished>,
        mut written: Written,
        held: &[HeldSlot],
        worker: WorkerId,
        now: Timestamp,
        log: &mut LogLines,
    ) -> Self {
        let mut ended = Self::default();
        for slot in held.iter().filter(|slot| written.contains(slot.job)) {
            *ended.freed.entry(slot.key.clone()).or_default() += 1;
        }
        let worker = Some(worker);
        for finished in finished {
            let job = finished.job;
            if written.cancelled.remove(&job) {
                log.cancelled(job, worker);
                continue;
            }
            ended.comes_back |= matches!(finished.end, End::Retry { .. } | End::Returned);
            if !written.ended.remove(&job) {
                ended.stale.push(job);
                continue;
            }
            match &finished.end {
                End::Succeeded => log.add(job, worker, &Event::Succeeded, Some(Counter::Succeeded)),
                End::Failed { error } => log.failed(job, worker, error),
                End::Retry { error, after } => {
                    let event = Event::Retried {
                        error: error.clone(),
                        place: now.plus(*after),
                    };
                    log.add(job, worker, &event, Some(Counter::Retried));
                }
                End::Returned => log.add(job, worker, &Event::Returned, None),
            }
        }
        ended
    }
}
