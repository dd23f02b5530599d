//! The ids of one store, and the numbers that a history has for them.
//!
//! Stores number as they like: memory gives jobs, workers and claims numbers of one sequence, another backend those of three. Where two
//! stores did the same, the n-th job of one is the n-th of the other, and so for workers and starts.

use warp_policy::ids::{ClaimId, JobId, WorkerId};
use warp_storage::model::{Dispatched, Event, Job, LogEntry, Started, Swept};

use crate::Result;

/// The number of an id that the store never gave out.
const UNKNOWN: i64 = -1;

/// What a store gave out, in order.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    pub(crate) jobs: Vec<JobId>,
    pub(crate) workers: Vec<WorkerId>,
    pub(crate) starts: Vec<(JobId, ClaimId)>,
}

impl Ids {
    /// Notes the jobs of one call, whose ids ascend.
    pub(crate) fn enqueued(&mut self, ids: Vec<JobId>, expected: usize) -> Result {
        let number = ids.len();
        self.jobs.extend(ids);
        if number == expected && self.jobs.is_sorted_by(|one, next| one < next) {
            return Ok(());
        }
        Err(format!("{number} ids for {expected} jobs, or not ascending").into())
    }

    /// Notes the starts of a turn. Each has a claim above all earlier turns' (R81).
    pub(crate) fn started(&mut self, started: &[Started]) -> Result {
        let last = self.starts.iter().map(|&(_, claim)| claim).max();
        for start in started {
            let is_known = self.starts.iter().any(|&(_, claim)| claim == start.claim);
            if is_known || last.is_some_and(|last| start.claim < last) {
                return Err(format!("claim {} does not ascend", start.claim).into());
            }
            self.starts.push((start.job, start.claim));
        }
        Ok(())
    }

    /// A job as the history numbers it.
    pub(crate) fn job(&self, id: JobId) -> JobId {
        JobId::new(number(self.jobs.binary_search(&id).ok()))
    }

    pub(crate) fn worker(&self, id: WorkerId) -> WorkerId {
        let position = self.workers.iter().position(|&other| other == id);
        WorkerId::new(number(position))
    }

    /// A claim is the number of its start, so that what a row and its log say of it is what the turn said.
    fn claim(&self, id: ClaimId) -> ClaimId {
        let mut starts = self.starts.iter();
        ClaimId::new(number(starts.rposition(|&(_, claim)| claim == id)))
    }

    pub(crate) fn view(&self, job: Job) -> Job {
        let claim = job.claim;
        Job {
            id: self.job(job.id),
            claim: claim.map(|(worker, claim)| (self.worker(worker), self.claim(claim))),
            ..job
        }
    }

    pub(crate) fn entry(&self, entry: LogEntry) -> LogEntry {
        let event = match entry.event {
            Event::Started { attempt, claim } => Event::Started {
                attempt,
                claim: self.claim(claim),
            },
            Event::Lost { worker, together } => Event::Lost {
                worker: self.worker(worker),
                together,
            },
            other => other,
        };
        LogEntry {
            at: entry.at,
            worker: entry.worker.map(|worker| self.worker(worker)),
            event,
        }
    }

    /// The order of `failed` and `stale` is not promised.
    pub(crate) fn dispatched(&self, mut turn: Dispatched) -> Dispatched {
        for started in &mut turn.started {
            started.job = self.job(started.job);
            started.claim = self.claim(started.claim);
        }
        for (job, _) in &mut turn.failed {
            *job = self.job(*job);
        }
        for job in &mut turn.cancelled {
            *job = self.job(*job);
        }
        for job in &mut turn.stale {
            *job = self.job(*job);
        }
        // Whatever is not after now means at once.
        turn.next_at = turn.next_at.map(|at| at.max(turn.now));
        turn.failed.sort_unstable();
        turn.stale.sort_unstable();
        turn
    }

    /// Nor is that of the dead.
    pub(crate) fn swept(&self, mut swept: Swept) -> Swept {
        for (worker, _) in &mut swept.dead {
            *worker = self.worker(*worker);
        }
        swept.dead.sort_unstable();
        // Whether a key without known starts has a row at all is each backend's own business.
        swept.forgotten = 0;
        swept
    }
}

fn number(position: Option<usize>) -> i64 {
    position.map_or(UNKNOWN, |position| {
        i64::try_from(position).unwrap_or(UNKNOWN)
    })
}
