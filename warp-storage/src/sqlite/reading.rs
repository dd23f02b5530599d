//! What a turn reads under the write lock.

use std::collections::BTreeMap;

use warp_policy::Timestamp;
use warp_policy::admission::{Candidate, Fleet, KeyId, LINE_READ, Route, Turn};
use warp_policy::ids::{JobId, LaneId};

use super::documents::{Due, Keys, LaneRow, json};
use super::error::SqliteError;
use super::judging::{Judging, Read, key_set, keys};
use super::limiters::{Asking, Limiters};
use super::mend::Unreadable;
use super::statements::{DUE, KEYS};
use super::turn::Taking;
use super::writer::{Session, Statement};
use crate::model::Dispatch;

/// Everything that a turn has read.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) turn: Turn,
    pub(super) fleet: Fleet,
    /// The lanes that are judged, or seen in a line.
    pub(super) lanes: BTreeMap<LaneId, LaneRow>,
    pub(super) looked_at: BTreeMap<KeyId, Option<LaneId>>,
    pub(super) jobs: BTreeMap<JobId, Read>,
    /// Ready jobs that have to fail.
    pub(super) failed: Vec<(JobId, String)>,
    pub(super) last_line: i64,
    pub(super) last_lane: i64,
}

/// What came of reading.
pub(super) enum Outcome {
    /// Everything that the planner needs.
    Read(Box<Reading>),
    /// These have to be mended first.
    Unreadable(Vec<Unreadable>),
    /// The worker was declared dead.
    WorkerGone,
}

impl Taking<'_> {
    pub(super) async fn read(
        &self,
        session: &mut Session,
        freed: &BTreeMap<KeyId, usize>,
    ) -> Result<Outcome, SqliteError> {
        let Some(mut due) = self.read_due(session, freed).await? else {
            return Ok(Outcome::WorkerGone);
        };
        let room = self.dispatch.room;
        let mut judging = Judging::default();
        let lanes = judging.lanes(&mut due.lanes, room);
        if !judging.unreadable.is_empty() {
            return Ok(Outcome::Unreadable(judging.unreadable));
        }
        let mut candidates = judging.candidates(due.ready, &self.resolutions);

        let fleet = due.presence.fleet(self.dispatch.worker, self.now);
        let keys = keys(freed, due.looks, &due.lanes, &candidates);
        let mut document = read_keys(session, &keys, &candidates).await?;
        let own_lanes = judging.join_lanes(&mut candidates, std::mem::take(&mut document.lanes));
        let asking = Asking {
            fleet: &fleet,
            now: self.now,
        };
        let limiters = asking.limiters(&keys, document, &mut judging);
        let limiters = limiters.map_err(|what| session.damaged(what))?;
        if !judging.unreadable.is_empty() {
            return Ok(Outcome::Unreadable(judging.unreadable));
        }

        self.inner
            .writer
            .counts()
            .turn(candidates.len(), lanes.len());
        let looked_at = limiters.looked_at(self.now);
        let Limiters {
            states,
            lanes: in_lines,
            ..
        } = limiters;
        let judged = due.lanes.into_iter().map(|row| (row.lane.id, row.lane));
        Ok(Outcome::Read(Box::new(Reading {
            turn: Turn {
                now: self.now,
                fleet: fleet.clone(),
                room,
                candidates,
                lanes,
                keys: states,
            },
            fleet,
            lanes: in_lines
                .into_iter()
                .chain(own_lanes)
                .chain(judged)
                .collect(),
            looked_at,
            jobs: judging.jobs,
            failed: judging.failed,
            last_line: due.presence.last_line,
            last_lane: due.last_lane,
        })))
    }

    /// Who is there and what is due; `None` where the worker was declared dead.
    async fn read_due(
        &self,
        session: &mut Session,
        freed: &BTreeMap<KeyId, usize>,
    ) -> Result<Option<Due>, SqliteError> {
        let freed: Vec<_> = freed
            .iter()
            .map(|(key, count)| serde_json::json!({ "family": key.family, "key": key.key, "count": count }))
            .collect();
        let statement = || bind_fetch(sqlx::query(DUE), self.dispatch, self.now).bind(json(&freed));
        let mut due: Due = session.document(statement()).await?;
        if due.presence.of(self.dispatch.worker).is_none() {
            return Ok(None);
        }
        if self.notice(session, &due.presence).await? {
            due = session.document(statement()).await?;
        }
        self.note_others(&due.presence);
        Ok(Some(due))
    }
}

/// Reads keys, and the lanes that these candidates would join, numbered like them.
async fn read_keys(
    session: &mut Session,
    keys: &[KeyId],
    candidates: &[Candidate],
) -> Result<Keys, SqliteError> {
    if keys.is_empty() {
        return Ok(Keys::default());
    }
    let key_set = |candidate: &Candidate| {
        let Route { queue, kind } = &candidate.route;
        serde_json::json!({ "queue": queue, "kind": kind, "keys": json(&key_set(&candidate.waiter.demands)) })
    };
    let key_sets: Vec<_> = candidates.iter().map(key_set).collect();
    let statement = sqlx::query(KEYS)
        .bind(json(keys))
        .bind(number(LINE_READ + 1))
        .bind(json(&key_sets));
    session.document(statement).await
}

/// Fills in what every fetch takes.
pub(super) fn bind_fetch(statement: Statement, dispatch: &Dispatch, now: Timestamp) -> Statement {
    let fetch = if dispatch.room == 0 {
        0
    } else {
        dispatch.fetch.max(dispatch.room)
    };
    statement
        .bind(dispatch.worker.get())
        .bind(now.as_micros())
        .bind(number(dispatch.room))
        .bind(number(fetch))
}

/// A number of rows.
pub(super) fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
