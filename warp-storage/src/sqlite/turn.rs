//! One dispatch turn: a plain read, and where there is something to do, one transaction.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use sqlx::Row;
use warp_policy::Timestamp;
use warp_policy::admission::{Fleet, KeyId};
use warp_policy::ids::{ClaimId, JobId, WorkerId};

use super::Inner;
use super::documents::{Agenda, HeldSlot, Peek, Presence, UnresolvedRow, WorkerRow, json};
use super::error::SqliteError;
use super::log::LogLines;
use super::mend::mend;
use super::reading::{Outcome, bind_fetch};
use super::statements::{
    ENDS, LOOK_AT_ALL, LOOK_AT_LINES, PEEK, PROMOTE, STORE_LATEST, WORKERS_LATEST,
};
use super::writer::Session;
use crate::error::StoreError;
use crate::model::{
    Counter, Dispatch, Dispatched, End, Event, JobState, Resolution, Resolver, Unresolved,
};

/// How far the clock may step back without being noticed, as for the limiters (R49).
pub(super) const CLOCK_TOLERANCE_MICROS: u64 = 1_000_000;

/// A turn while it is taken.
pub(super) struct Taking<'a> {
    pub(super) dispatch: &'a Dispatch,
    pub(super) now: Timestamp,
    pub(super) resolutions: BTreeMap<JobId, Resolution>,
    pub(super) held: Vec<HeldSlot>,
    /// The earliest place of a scheduled job.
    pub(super) scheduled: Option<Timestamp>,
    pub(super) inner: &'a Inner,
}

/// What came of a turn, and whether another worker has something to do because of it.
pub(super) struct Taken {
    pub(super) dispatched: Dispatched,
    pub(super) others_care: bool,
}

/// An ended attempt as `ends.sql` takes it.
#[derive(Serialize)]
struct EndRow<'a> {
    job: JobId,
    claim: ClaimId,
    state: JobState,
    place: Option<Timestamp>,
    back: u32,
    error: Option<&'a str>,
    ended_at: Option<Timestamp>,
}

/// The attempts that ended.
#[derive(Debug, Default)]
pub(super) struct Ended {
    pub(super) freed: BTreeMap<KeyId, usize>,
    pub(super) stale: Vec<JobId>,
    /// Whether one of them is ready again, now or later.
    pub(super) comes_back: bool,
}

impl Inner {
    pub(super) async fn dispatch(
        &self,
        dispatch: Dispatch,
        resolver: &dyn Resolver,
    ) -> Result<Dispatched, StoreError> {
        let worker = dispatch.worker;
        let peek = self.peek(&dispatch).await?;
        let now = self.clock.now();
        let calls = peek
            .calls_for_a_turn(&dispatch, now)
            .ok_or(StoreError::WorkerGone { worker })?;
        if !calls && self.has_reported() {
            return Ok(nothing_to_do(&peek.agenda, now));
        }
        let resolutions = resolve(peek.unresolved, resolver);
        let mut session = self.writer.begin().await?;
        let taking = Taking {
            dispatch: &dispatch,
            now: self.clock.now(),
            resolutions,
            held: peek.held,
            scheduled: peek.agenda.scheduled,
            inner: self,
        };
        let Some(taken) = taking.take(&mut session).await? else {
            session.roll_back().await?;
            return Err(StoreError::WorkerGone { worker });
        };
        session.commit().await?;
        if taken.others_care {
            self.announce();
        }
        Ok(taken.dispatched)
    }

    async fn peek(&self, dispatch: &Dispatch) -> Result<Peek, SqliteError> {
        let ended: BTreeSet<JobId> = dispatch
            .finished
            .iter()
            .map(|finished| finished.job)
            .collect();
        let statement =
            bind_fetch(sqlx::query(PEEK), dispatch, self.clock.now()).bind(json(&ended));
        let mut session = self.writer.connection().await?;
        let peek = session.document(statement).await?;
        session.keep();
        Ok(peek)
    }
}

/// Runs the user's code, outside the write lock (R32).
fn resolve(unresolved: Vec<UnresolvedRow>, resolver: &dyn Resolver) -> BTreeMap<JobId, Resolution> {
    let resolve = |row: UnresolvedRow| {
        let resolution = match serde_json::from_str(&row.explicit) {
            Ok(explicit) => resolver.resolve(&Unresolved {
                id: row.id,
                kind: row.kind,
                payload: row.payload,
                explicit,
            }),
            Err(error) => Resolution::Fail(format!(
                "the policies given with the job cannot be read: {error}"
            )),
        };
        (row.id, resolution)
    };
    unresolved.into_iter().map(resolve).collect()
}

impl Peek {
    /// Whether there is anything to do for a turn; `None` where its worker is gone. A worker that nothing was written for takes a turn
    /// all the same once in a third of its lease, to be seen.
    fn calls_for_a_turn(&self, dispatch: &Dispatch, now: Timestamp) -> Option<bool> {
        let seen = self.worker.as_ref()?;
        let by_now = |at: Timestamp| at <= now;
        let agenda = &self.agenda;
        let work = agenda.ready
            || agenda.scheduled.is_some_and(by_now)
            || agenda.lanes.iter().any(|lane| by_now(lane.next_at));
        Some(
            !dispatch.finished.is_empty()
                || (dispatch.room > 0 && work)
                || agenda.look_at.is_some_and(by_now)
                || now.micros_since(seen.last_seen) >= seen.lease / 3
                || went_back(self.latest, now),
        )
    }
}

/// Whether the clock stands so far behind what it has shown that lanes may be timed by that (R66).
pub(super) fn went_back(latest: Timestamp, now: Timestamp) -> bool {
    now.plus_micros(CLOCK_TOLERANCE_MICROS) < latest
}

fn nothing_to_do(agenda: &Agenda, now: Timestamp) -> Dispatched {
    Dispatched {
        now,
        started: Vec::new(),
        refused: 0,
        failed: Vec::new(),
        stale: Vec::new(),
        next_at: agenda.next_at(now),
    }
}

impl Agenda {
    /// When a turn can find something without anything else happening.
    pub(super) fn next_at(&self, now: Timestamp) -> Option<Timestamp> {
        let lanes = self.lanes.iter().map(|lane| lane.next_at);
        let ready = self.ready.then_some(now);
        lanes
            .chain(ready)
            .chain(self.scheduled)
            .chain(self.look_at)
            .min()
    }
}

impl Presence {
    /// Who can run what, in the eyes of `me`, who takes a turn and so is alive.
    pub(super) fn fleet(&self, me: WorkerId, now: Timestamp) -> Fleet {
        let live = self
            .workers
            .iter()
            .filter(|row| !row.draining && (row.id == me || row.is_alive(now)));
        Fleet {
            me,
            workers: live.map(WorkerRow::server).collect(),
        }
    }
}

impl Taking<'_> {
    /// Takes the turn; `None` where the worker was declared dead.
    async fn take(&self, session: &mut Session) -> Result<Option<Taken>, SqliteError> {
        let mut log = LogLines::default();
        let ended = self.end(session, &mut log).await?;
        if self.dispatch.room > 0 && self.scheduled.is_some_and(|place| place <= self.now) {
            let statement = sqlx::query(PROMOTE).bind(self.dispatch.worker.get());
            session
                .execute(statement.bind(self.now.as_micros()))
                .await?;
        }
        let mut failed = self.inner.unreported();
        let reading = loop {
            match self.read(session, &ended.freed).await? {
                Outcome::WorkerGone => return Ok(None),
                Outcome::Read(reading) => break *reading,
                Outcome::Unreadable(jobs) => {
                    mend(session, &jobs, self.now).await?;
                    for job in jobs {
                        log.failed(job.job, None, &job.error);
                        failed.push((job.job, job.error));
                    }
                }
            }
        };
        self.write(session, reading, ended, failed, log)
            .await
            .map(Some)
    }

    /// Ends attempts and frees their slots. A result under a claim that is no longer held changes nothing (R81).
    async fn end(&self, session: &mut Session, log: &mut LogLines) -> Result<Ended, SqliteError> {
        let mut ended = Ended::default();
        if self.dispatch.finished.is_empty() {
            return Ok(ended);
        }
        let mut claims = BTreeSet::new();
        let finished = self
            .dispatch
            .finished
            .iter()
            .filter(|finished| claims.insert((finished.job, finished.claim)));
        let rows: Vec<EndRow<'_>> = finished
            .map(|finished| self.end_row(finished.job, finished.claim, &finished.end))
            .collect();
        let statement = sqlx::query(ENDS)
            .bind(json(&rows))
            .bind(self.dispatch.worker.get());
        let mut held = BTreeSet::new();
        for row in session.rows(statement).await? {
            let id: i64 = row
                .try_get(0)
                .map_err(|error| session.damaged(error.to_string()))?;
            held.insert(JobId::new(id));
        }
        for slot in self.held.iter().filter(|slot| held.contains(&slot.job)) {
            *ended.freed.entry(slot.key.clone()).or_default() += 1;
        }
        let worker = Some(self.dispatch.worker);
        for finished in &self.dispatch.finished {
            ended.comes_back |= matches!(finished.end, End::Retry { .. } | End::Returned);
            if !held.remove(&finished.job) {
                ended.stale.push(finished.job);
                continue;
            }
            let job = finished.job;
            match &finished.end {
                End::Succeeded => log.add(job, worker, &Event::Succeeded, Some(Counter::Succeeded)),
                End::Failed { error } => log.failed(job, worker, error),
                End::Retry { error, after } => {
                    let event = Event::Retried {
                        error: error.clone(),
                        place: self.now.plus(*after),
                    };
                    log.add(job, worker, &event, Some(Counter::Retried));
                }
                End::Returned => log.add(job, worker, &Event::Returned, None),
            }
        }
        Ok(ended)
    }

    fn end_row<'e>(&self, job: JobId, claim: ClaimId, end: &'e End) -> EndRow<'e> {
        let ends = |state| EndRow {
            job,
            claim,
            state,
            place: None,
            back: 0,
            error: None,
            ended_at: Some(self.now),
        };
        let goes_on = |state| EndRow {
            ended_at: None,
            ..ends(state)
        };
        match end {
            End::Succeeded => ends(JobState::Succeeded),
            End::Failed { error } => EndRow {
                error: Some(error),
                ..ends(JobState::Failed)
            },
            End::Retry { error, after } => {
                let place = self.now.plus(*after);
                let state = if place > self.now {
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

    /// Whether the clock went back, or this worker was silent for its lease without being declared dead. Then lines have to be looked at
    /// that others judged, or timed, without it.
    pub(super) async fn notice(
        &self,
        session: &mut Session,
        presence: &Presence,
    ) -> Result<bool, SqliteError> {
        let went_back = notice_clock(session, presence, self.now).await?;
        let me = presence
            .workers
            .iter()
            .find(|row| row.id == self.dispatch.worker);
        let Some(me) = me.filter(|me| !me.is_alive(self.now)) else {
            return Ok(went_back);
        };
        let statement = sqlx::query(LOOK_AT_LINES)
            .bind(json(&me.queues))
            .bind(json(&me.kinds))
            .bind(self.now.as_micros());
        session.execute(statement).await?;
        Ok(true)
    }

    /// Notes whether others share the file.
    pub(super) fn note_others(&self, presence: &Presence) {
        let others = presence
            .workers
            .iter()
            .any(|row| row.process != self.inner.process && row.is_alive(self.now));
        self.inner.writer.is_shared(others);
    }
}

/// A clock that went back leaves lanes behind that are timed by what it showed before: every line is looked at again, so that nobody
/// waits for longer than its policy says (R66).
pub(super) async fn notice_clock(
    session: &mut Session,
    presence: &Presence,
    now: Timestamp,
) -> Result<bool, SqliteError> {
    if !went_back(presence.latest, now) {
        return Ok(false);
    }
    for statement in [LOOK_AT_ALL, WORKERS_LATEST, STORE_LATEST] {
        session
            .execute(sqlx::query(statement).bind(now.as_micros()))
            .await?;
    }
    Ok(true)
}
