//! One dispatch turn: a plain read, and where there is something to do, one transaction.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::Row;
use warp_policy::Timestamp;
use warp_policy::ids::JobId;

use super::Inner;
use super::error::SqliteError;
use super::mend::mend;
use super::reading::{Outcome, bind_fetch};
use super::statements::{
    ENDS, LOOK_AT_ALL, LOOK_AT_LINES, PEEK, PROMOTE, STORE_LATEST, WORKERS_LATEST,
};
use super::writer::Session;
use crate::error::StoreError;
use crate::model::{Dispatch, Dispatched, Resolution, Resolver};
use crate::sql::agenda::{nothing_to_do, resolve, went_back};
use crate::sql::documents::{HeldSlot, Peek, Presence, json};
use crate::sql::ends::{Ended, Written, end_rows};
use crate::sql::log::LogLines;

/// A turn while it is taken.
pub(super) struct Taking<'a> {
    pub(super) dispatch: &'a Dispatch,
    pub(super) now: Timestamp,
    pub(super) resolutions: BTreeMap<JobId, Resolution>,
    pub(super) held: Vec<HeldSlot>,
    pub(super) cancelled: Vec<JobId>,
    /// The earliest place of a scheduled job.
    pub(super) scheduled: Option<Timestamp>,
    pub(super) inner: &'a Inner,
}

/// What came of a turn, and whether another worker has something to do because of it.
pub(super) struct Taken {
    pub(super) dispatched: Dispatched,
    pub(super) others_care: bool,
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
            return Ok(nothing_to_do(peek, now));
        }
        let resolutions = resolve(peek.unresolved, resolver);
        let mut session = self.writer.begin().await?;
        let taking = Taking {
            dispatch: &dispatch,
            now: self.clock.now(),
            resolutions,
            held: peek.held,
            cancelled: dispatch.still_running(peek.cancelled),
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
        let (reading, last) = loop {
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
        self.write(session, reading, last, (ended, failed, log))
            .await
            .map(Some)
    }

    /// Ends attempts and frees their slots. A result under a claim that is no longer held changes nothing (R81).
    async fn end(&self, session: &mut Session, log: &mut LogLines) -> Result<Ended, SqliteError> {
        if self.dispatch.finished.is_empty() {
            return Ok(Ended::default());
        }
        let finished = &self.dispatch.finished;
        let statement = sqlx::query(ENDS)
            .bind(json(&end_rows(finished, self.now)))
            .bind(self.dispatch.worker.get())
            .bind(self.now.as_micros());
        let mut written = Written::default();
        for row in session.rows(statement).await? {
            let read = row.try_get(0).and_then(|id| Ok((id, row.try_get(1)?)));
            let (id, is_cancelled) = read.map_err(|error| session.damaged(error.to_string()))?;
            let written = if is_cancelled {
                &mut written.cancelled
            } else {
                &mut written.ended
            };
            written.insert(JobId::new(id));
        }
        let worker = self.dispatch.worker;
        Ok(Ended::of(
            finished, written, &self.held, worker, self.now, log,
        ))
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
