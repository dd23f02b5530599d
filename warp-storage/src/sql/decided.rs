//! What a turn writes about jobs.

use std::collections::BTreeMap;

use serde::Serialize;
use warp_policy::Timestamp;
use warp_policy::admission::{Family, Fleet, LaneRef, Plan, Route, Want};
use warp_policy::ids::{ClaimId, JobId, LaneId, WorkerId};

use super::documents::{Agenda, LaneRow, json};
use super::judging::Read;
use super::log::LogLines;
use crate::model::{Counter, Event, JobState, Started};

/// A judged job as `judged.sql` takes it.
#[derive(Debug, Default, Serialize)]
pub(crate) struct JudgedRow {
    pub(crate) job: Option<JobId>,
    pub(crate) state: Option<JobState>,
    pub(crate) lane: Option<LaneId>,
    /// Of the plan's new lanes, the one it waits in.
    pub(crate) new_lane: Option<usize>,
    pub(crate) claim: Option<ClaimId>,
    pub(crate) at: Option<Timestamp>,
    pub(crate) ended_at: Option<Timestamp>,
    pub(crate) stamp: Option<String>,
    pub(crate) error: Option<String>,
    /// The slots that it takes, where they are written with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) slots: Vec<SlotRow>,
}

/// A slot as `slots.sql` takes it.
#[derive(Debug, Serialize)]
pub(crate) struct SlotRow {
    family: Family,
    key: String,
    job: JobId,
}

/// What was decided about the jobs of a turn.
#[derive(Debug)]
pub(crate) struct Decided<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) jobs: &'a BTreeMap<JobId, Read>,
    pub(crate) worker: WorkerId,
    pub(crate) now: Timestamp,
}

impl Decided<'_> {
    /// Ready jobs that cannot be judged.
    pub(crate) fn failures(
        &self,
        failed: &[(JobId, String)],
        log: &mut LogLines,
    ) -> Vec<JudgedRow> {
        let failure = |(job, error): &(JobId, String)| {
            log.failed(*job, Some(self.worker), error);
            JudgedRow {
                job: Some(*job),
                state: Some(JobState::Failed),
                ended_at: Some(self.now),
                error: Some(error.clone()),
                ..JudgedRow::default()
            }
        };
        failed.iter().map(failure).collect()
    }

    /// A job that starts, without its claim.
    pub(crate) fn start(&self, job: JobId, at: Timestamp) -> JudgedRow {
        JudgedRow {
            state: Some(JobState::Processing),
            at: Some(at),
            ..self.judged(job)
        }
    }

    /// The number of the attempt that a job starts with.
    pub(crate) fn attempt(&self, job: JobId) -> u32 {
        self.jobs.get(&job).map_or(1, |read| read.attempts + 1)
    }

    /// Jobs that wait, and jobs that are skipped.
    pub(crate) fn refusals(&self, rows: &mut Vec<JudgedRow>, log: &mut LogLines) {
        let worker = Some(self.worker);
        for wait in &self.plan.waits {
            let counter = match wait.refusal.key.family {
                Family::RateLimit => Counter::RequeuedRatelimit,
                _ => Counter::RequeuedConcurrency,
            };
            log.add(
                wait.job,
                worker,
                &Event::Waiting(wait.refusal.clone()),
                Some(counter),
            );
            let (lane, new_lane) = match wait.lane {
                LaneRef::Existing(lane) => (Some(lane), None),
                LaneRef::New(index) => (None, Some(index)),
            };
            rows.push(JudgedRow {
                state: Some(JobState::Waiting),
                lane,
                new_lane,
                ..self.judged(wait.job)
            });
        }
        for skip in &self.plan.skips {
            let counter = match skip.refusal.key.family {
                Family::RateLimit => Counter::DeletedRatelimit,
                _ => Counter::DeletedConcurrency,
            };
            log.add(
                skip.job,
                worker,
                &Event::Skipped(skip.refusal.clone()),
                Some(counter),
            );
            rows.push(JudgedRow {
                state: Some(JobState::Deleted),
                ended_at: Some(self.now),
                ..self.judged(skip.job)
            });
        }
    }

    /// What every judged job has in common: the stamp is written by the turn that judges it first (R21).
    fn judged(&self, job: JobId) -> JudgedRow {
        let stamp = self.jobs.get(&job).and_then(|read| read.stamp.as_ref());
        JudgedRow {
            job: Some(job),
            stamp: stamp.map(json),
            ..JudgedRow::default()
        }
    }

    /// The slots of a job that starts, to be held while it runs (R52).
    pub(crate) fn slots_of(&self, job: JobId) -> impl Iterator<Item = SlotRow> {
        let read = self.jobs.get(&job).into_iter();
        let demands = read.flat_map(|read| read.demands.iter());
        demands
            .filter(|demand| matches!(demand.want, Want::Slot { .. }))
            .map(move |demand| SlotRow {
                family: demand.key.family,
                key: demand.key.key.to_string(),
                job,
            })
    }

    /// The jobs to run, with the claims and payloads that were written.
    pub(crate) fn started(&self, mut written: BTreeMap<JobId, (ClaimId, String)>) -> Vec<Started> {
        let starts = self.plan.starts.iter();
        let started = starts.filter_map(|start| {
            let read = self.jobs.get(&start.job)?;
            let (claim, payload) = written.remove(&start.job)?;
            Some(Started {
                job: start.job,
                claim,
                kind: read.route.kind.clone(),
                queue: read.route.queue.clone(),
                payload,
                attempt: self.attempt(start.job),
                admitted_at: start.at,
            })
        });
        started.collect()
    }
}

/// Whether a plan lets a lane wake that this worker cannot take itself.
pub(crate) fn wakes_others(plan: &Plan, lanes: &BTreeMap<LaneId, LaneRow>, fleet: &Fleet) -> bool {
    let new = plan
        .new_lanes
        .iter()
        .map(|lane| (lane.route.clone(), lane.next_at));
    let changed = plan.lanes.iter().filter_map(|update| {
        let route = lanes.get(&update.lane)?.route.clone();
        Some((Route::from(route), update.state.as_ref()?.next_at))
    });
    let mut waking = new.chain(changed).filter(|(_, next_at)| next_at.is_some());
    waking.any(|(route, _)| !fleet.i_can_run(&route))
}

/// Whether lanes of this worker's routes are, or will be, due that another worker can take. One without room must tell: the others may
/// not have looked since the lanes were timed, and it will not be there at that time.
pub(crate) fn leaves_lanes(agenda: &Agenda, fleet: &Fleet) -> bool {
    let mut others = fleet.workers.iter().filter(|worker| worker.id != fleet.me);
    others.any(|other| {
        agenda
            .lanes
            .iter()
            .any(|lane| other.serves(&lane.route.clone().into()))
    })
}
