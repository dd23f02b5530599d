//! A turn in which nothing has a policy: one statement, which ends and starts (R47).

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use warp_policy::Timestamp;
use warp_policy::ids::{ClaimId, JobId, WorkerId};

use super::Inner;
use super::error::PostgresError;
use super::session::{At, statement};
use super::turn::{Taken, bind_fetch};
use crate::model::{
    Counter, Dispatch, Dispatched, End, Event, Finished, JobState, Resolver, Started,
};
use crate::sql::decided::leaves_lanes;
use crate::sql::documents::{Agenda, Peek, Presence, json};
use crate::sql::ends::{Ended, Written};
use crate::sql::log::LogLines;
use crate::sql::read_back::StartedRow;

/// The kinds of the workers that registered here.
pub(super) type Kinds = Mutex<HashMap<WorkerId, BTreeSet<Arc<str>>>>;

/// What came of trying.
pub(super) enum AtOnce {
    Taken(Box<Taken>),
    WorkerGone,
    /// Nothing was done: there is nothing to do, or keys are concerned. What was seen.
    Seen(At<Peek>),
    /// It was not tried, or the server did not let it.
    NotTried,
}

/// What `turn_without_keys` answers.
#[derive(Debug, Deserialize)]
struct Answer {
    taken: Option<Done>,
    peek: Option<Peek>,
}

#[derive(Debug, Deserialize)]
struct Done {
    written: EndsWritten,
    started: Vec<StartedRow>,
    cancelled: Vec<JobId>,
    agenda: Agenda,
    /// Who is there, where somebody has to be told of lanes.
    presence: Option<Presence>,
}

#[derive(Debug, Deserialize)]
struct EndsWritten {
    #[serde(flatten)]
    written: Written,
    /// Those whose rows somebody else was changing.
    contended: BTreeSet<JobId>,
}

/// An ended attempt as `turn_without_keys` takes it. The instant is not known yet: a retry says how much later it is, in microseconds.
#[derive(Debug, Serialize)]
struct EndRow<'a> {
    job: JobId,
    claim: ClaimId,
    state: JobState,
    after: Option<i64>,
    back: u32,
    error: Option<&'a str>,
    /// None for a retry, which tells the instant.
    event: Option<String>,
    counter: Option<Counter>,
}

impl Inner {
    /// Takes a turn in one statement, if nothing in it has a policy.
    pub(super) async fn take_without_keys(
        &self,
        dispatch: &Dispatch,
        resolver: &dyn Resolver,
    ) -> Result<AtOnce, PostgresError> {
        let free = self.kinds_without_policies(dispatch.worker, resolver);
        let starts_what_ends = dispatch.room > 0 && dispatch.finished.iter().any(is_ready_at_once);
        if free.is_empty() || starts_what_ends {
            return Ok(AtOnce::NotTried);
        }
        let (ends, free) = (json(&end_rows(&dispatch.finished)), json(&free));
        let turn = i64::try_from(dispatch.turn).unwrap_or(i64::MAX);
        let statement = || {
            let call = statement(&self.statements.turn_without_keys);
            bind_fetch(call, dispatch, self.time.given())
                .bind(ends.clone())
                .bind(free.clone())
                .bind(turn)
        };
        match self.document_at::<Answer>(statement).await {
            Ok(At { now, document }) => Ok(match document {
                Answer {
                    taken: Some(done), ..
                } => AtOnce::Taken(Box::new(self.taken(dispatch, done, now))),
                Answer {
                    peek: Some(peek), ..
                } => AtOnce::Seen(At {
                    now,
                    document: peek,
                }),
                Answer { .. } => AtOnce::WorkerGone,
            }),
            // A transaction of its own can only have the isolation, and the right to write, that are the default of the user's.
            Err(PostgresError::Busy { .. } | PostgresError::ReadOnly { .. }) => {
                Ok(AtOnce::NotTried)
            }
            Err(error) => Err(error),
        }
    }

    pub(super) fn note_kinds(&self, worker: WorkerId, kinds: BTreeSet<Arc<str>>) {
        self.kinds().insert(worker, kinds);
    }

    pub(super) fn forget_kinds(&self, worker: WorkerId) {
        self.kinds().remove(&worker);
    }

    fn kinds(&self) -> MutexGuard<'_, HashMap<WorkerId, BTreeSet<Arc<str>>>> {
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The worker's kinds of which a job has a policy only if one was given with it.
    fn kinds_without_policies(&self, worker: WorkerId, resolver: &dyn Resolver) -> Vec<Arc<str>> {
        let kinds = self.kinds();
        let kinds = kinds.get(&worker).into_iter().flatten();
        kinds
            .filter(|kind| resolver.declares_nothing(kind))
            .cloned()
            .collect()
    }

    fn taken(&self, dispatch: &Dispatch, done: Done, now: Timestamp) -> Taken {
        let EndsWritten { written, contended } = done.written;
        let (left, finished): (Vec<&Finished>, Vec<&Finished>) = dispatch
            .finished
            .iter()
            .partition(|finished| contended.contains(&finished.job));
        // The statement has written the log.
        let mut log = LogLines::default();
        let ended = Ended::of(finished, written, &[], dispatch.worker, now, &mut log);
        let others_care = done.presence.is_some_and(|presence| {
            leaves_lanes(&done.agenda, &presence.fleet(dispatch.worker, now))
        });
        self.counts.turn(done.started.len(), 0);
        let taken = Taken {
            dispatched: Dispatched {
                now,
                started: done.started.into_iter().map(Started::from).collect(),
                refused: 0,
                failed: Vec::new(),
                stale: ended.stale,
                left: Vec::new(),
                cancelled: dispatch.still_running(done.cancelled),
                next_at: done.agenda.next_at(now),
            },
            others_care: ended.comes_back || others_care,
        };
        taken.leaving(left.iter().map(|finished| finished.claim).collect())
    }
}

/// The rows to write, one for each claim.
fn end_rows(finished: &[Finished]) -> Vec<EndRow<'_>> {
    let mut claims = BTreeSet::new();
    finished
        .iter()
        .filter(|finished| claims.insert((finished.job, finished.claim)))
        .map(end_row)
        .collect()
}

fn end_row(finished: &Finished) -> EndRow<'_> {
    let ends = |state, event: &Event, counter| EndRow {
        job: finished.job,
        claim: finished.claim,
        state,
        after: None,
        back: 0,
        error: None,
        event: Some(json(event)),
        counter,
    };
    match &finished.end {
        End::Succeeded => ends(
            JobState::Succeeded,
            &Event::Succeeded,
            Some(Counter::Succeeded),
        ),
        End::Failed { error } => {
            let event = Event::Failed {
                error: error.clone(),
            };
            EndRow {
                error: Some(error),
                ..ends(JobState::Failed, &event, Some(Counter::Failed))
            }
        }
        End::Retry { error, after } => {
            let after = i64::try_from(after.as_micros()).unwrap_or(i64::MAX);
            let state = if after > 0 {
                JobState::Scheduled
            } else {
                JobState::Enqueued
            };
            EndRow {
                job: finished.job,
                claim: finished.claim,
                state,
                after: Some(after),
                back: 0,
                error: Some(error),
                event: None,
                counter: Some(Counter::Retried),
            }
        }
        End::Returned => EndRow {
            back: 1,
            ..ends(JobState::Enqueued, &Event::Returned, None)
        },
    }
}

/// Whether the job may be started by the same turn. It may have a policy, and was not looked at.
fn is_ready_at_once(finished: &Finished) -> bool {
    match &finished.end {
        End::Returned => true,
        End::Retry { after, .. } => after.as_micros() == 0,
        End::Succeeded | End::Failed { .. } => false,
    }
}
