//! What a turn reads under the write lock.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use warp_policy::Timestamp;
use warp_policy::admission::{Candidate, KeyId, LINE_READ, Turn};

use super::error::SqliteError;
use super::statements::{DUE, KEYS};
use super::turn::Taking;
use super::writer::{Session, Statement};
use crate::model::Dispatch;
use crate::sql::documents::{JudgedLane, Keys, Presence, ReadyRow, json};
use crate::sql::judging::{Judging, Unreadable};
use crate::sql::limiters::{Asking, Limiters};
use crate::sql::reading::{Reading, fetch_size, key_sets, number};

/// Who is there, and what is due for a turn.
#[derive(Debug, Deserialize)]
struct Due {
    presence: Presence,
    last_lane: i64,
    looks: Vec<KeyId>,
    lanes: Vec<JudgedLane>,
    ready: Vec<ReadyRow>,
}

/// What came of reading.
pub(super) enum Outcome {
    /// Everything that the planner needs, with the last numbers of the log and of the lanes.
    Read(Box<(Reading, Last)>),
    /// These have to be mended first.
    Unreadable(Vec<Unreadable>),
    /// The worker was declared dead.
    WorkerGone,
}

/// The last numbers that were given out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Last {
    pub(super) line: i64,
    pub(super) lane: i64,
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
        let last = Last {
            line: due.presence.last_line,
            lane: due.last_lane,
        };
        let reading = Reading {
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
        };
        Ok(Outcome::Read(Box::new((reading, last))))
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

/// The keys of a turn: what was freed, what asked to be looked at, and all that its lanes and candidates ask.
fn keys(
    freed: &BTreeMap<KeyId, usize>,
    looks: Vec<KeyId>,
    lanes: &[JudgedLane],
    candidates: &[Candidate],
) -> Vec<KeyId> {
    let mut keys: BTreeSet<KeyId> = freed.keys().cloned().chain(looks).collect();
    keys.extend(lanes.iter().flat_map(|row| row.lane.keys.iter().cloned()));
    let demands = candidates
        .iter()
        .flat_map(|candidate| candidate.waiter.demands.iter());
    keys.extend(demands.map(|demand| demand.key.clone()));
    keys.into_iter().collect()
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
    let statement = sqlx::query(KEYS)
        .bind(json(keys))
        .bind(number(LINE_READ + 1))
        .bind(json(&key_sets(candidates)));
    session.document(statement).await
}

/// Fills in what every fetch takes.
pub(super) fn bind_fetch(statement: Statement, dispatch: &Dispatch, now: Timestamp) -> Statement {
    statement
        .bind(dispatch.worker.get())
        .bind(now.as_micros())
        .bind(number(dispatch.room))
        .bind(fetch_size(dispatch))
}
