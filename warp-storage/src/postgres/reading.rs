//! What a turn reads, and which keys it locks for that.

use std::collections::BTreeSet;

use serde::Deserialize;
use warp_policy::Timestamp;
use warp_policy::admission::{Candidate, KeyId, LINE_READ, Turn};
use warp_policy::ids::{ClaimId, LaneId};

use super::Inner;
use super::error::PostgresError;
use super::session::{At, Session, statement};
use super::turn::{Outcome, Taking, bind_fetch};
use crate::sql::documents::{JudgedLane, Keys, Presence, ReadyRow, json};
use crate::sql::ends::Ended;
use crate::sql::judging::Judging;
use crate::sql::limiters::{Asking, Limiters};
use crate::sql::log::LogLines;
use crate::sql::reading::{Reading, key_sets, number};

/// Who is there, and what is due for a turn.
#[derive(Debug, Deserialize)]
struct Due {
    presence: Presence,
    looks: Vec<KeyId>,
    lanes: Vec<DueLane>,
    ready: Vec<ReadyRow>,
}

/// A lane to judge. It is read once its keys are locked.
#[derive(Debug, Deserialize)]
struct DueLane {
    id: LaneId,
    keys: Vec<KeyId>,
}

/// Everything about locked keys.
#[derive(Debug, Deserialize)]
pub(super) struct LockedKeys {
    #[serde(flatten)]
    pub(super) keys: Keys,
    judged: Vec<JudgedLane>,
    pub(super) presence: Presence,
}

/// What is asked about locked keys.
#[derive(Debug, Default)]
pub(super) struct Question<'a> {
    pub(super) keys: &'a [KeyId],
    pub(super) candidates: &'a [Candidate],
    pub(super) lanes: &'a [LaneId],
    pub(super) room: usize,
}

impl Inner {
    /// Reads what is to be known about locked keys, in a statement that begins once they are locked, and with it the clock (R49).
    pub(super) async fn read_keys(
        &self,
        session: &mut Session,
        question: Question<'_>,
    ) -> Result<At<LockedKeys>, PostgresError> {
        let statement = statement(&self.statements.keys)
            .bind(json(question.keys))
            .bind(self.time.given())
            .bind(number(LINE_READ + 1))
            .bind(json(&key_sets(question.candidates)))
            .bind(json(question.lanes))
            .bind(number(question.room));
        session.document_at(statement).await
    }
}

impl Taking<'_> {
    /// Locks what may start, or may be restored, reads it, and has it decided and written.
    pub(super) async fn go_on(
        &self,
        mut session: Session,
        ended: Ended,
        locked: &BTreeSet<KeyId>,
        log: LogLines,
        left: Vec<ClaimId>,
    ) -> Result<Outcome, PostgresError> {
        let At { now, document: due } = self.read_due(&mut session, &ended).await?;
        let mut judging = Judging::default();
        let mut candidates = judging.candidates(due.ready, self.resolutions);

        let keys = keys(&ended, due.looks, &due.lanes, &candidates);
        let unlocked = keys.difference(locked).cloned().collect();
        let locks = self.inner.lock_at_once(&mut session, &unlocked).await?;
        if !locks.missing.is_empty() {
            session.roll_back().await?;
            return Ok(Outcome::Missing(locks.missing));
        }
        let is_mine = |key: &KeyId| locked.contains(key) || locks.locked.contains(key);
        let leaves_keys = locks.locked.len() < unlocked.len();
        candidates.retain(|candidate| {
            let mut demands = candidate.waiter.demands.iter();
            demands.all(|demand| is_mine(&demand.key))
        });
        let lanes = due.lanes.into_iter();
        let lanes: Vec<LaneId> = lanes
            .filter(|lane| lane.keys.iter().all(is_mine))
            .map(|lane| lane.id)
            .collect();
        let keys: Vec<KeyId> = keys.into_iter().filter(is_mine).collect();

        let read = if keys.is_empty() {
            Read::without_keys(self, now, &due.presence, candidates, judging)
        } else {
            let read = self.read_locked(&mut session, &keys, candidates, &lanes, judging);
            match read.await? {
                Ok(read) => read,
                Err(unreadable) => {
                    session.roll_back().await?;
                    return Ok(unreadable);
                }
            }
        };
        let counts = &self.inner.counts;
        counts.turn(
            read.reading.turn.candidates.len(),
            read.reading.turn.lanes.len(),
        );
        let taken = self.write(session, read, ended, log, leaves_keys).await?;
        Ok(Outcome::Taken(Box::new(taken.leaving(left))))
    }

    async fn read_due(
        &self,
        session: &mut Session,
        ended: &Ended,
    ) -> Result<At<Due>, PostgresError> {
        let freed: Vec<_> = ended
            .freed
            .iter()
            .map(|(key, count)| serde_json::json!({ "family": key.family, "key": key.key, "count": count }))
            .collect();
        let due = statement(&self.inner.statements.due);
        let statement = bind_fetch(due, self.dispatch, self.inner.time.given());
        session.document_at(statement.bind(json(&freed))).await
    }

    /// Reads the locked keys; what cannot be judged comes back instead.
    async fn read_locked(
        &self,
        session: &mut Session,
        keys: &[KeyId],
        mut candidates: Vec<Candidate>,
        lanes: &[LaneId],
        mut judging: Judging,
    ) -> Result<Result<Read, Outcome>, PostgresError> {
        let room = self.dispatch.room;
        let question = Question {
            keys,
            candidates: &candidates,
            lanes,
            room,
        };
        let At { now, document } = self.inner.read_keys(session, question).await?;
        let LockedKeys {
            keys: mut document,
            mut judged,
            presence,
        } = document;
        let fleet = presence.fleet(self.dispatch.worker, now);
        let lanes = judging.lanes(&mut judged, room);
        let own_lanes = judging.join_lanes(&mut candidates, std::mem::take(&mut document.lanes));
        let asking = Asking { fleet: &fleet, now };
        let limiters = asking.limiters(keys, document, &mut judging);
        let limiters = limiters.map_err(|what| session.damaged(what))?;
        if !judging.unreadable.is_empty() {
            return Ok(Err(Outcome::Unreadable(judging.unreadable)));
        }
        let looked_at = limiters.looked_at(now);
        let Limiters {
            states,
            lanes: in_lines,
            ..
        } = limiters;
        let judged = judged.into_iter().map(|row| (row.lane.id, row.lane));
        let reading = Reading {
            turn: Turn {
                now,
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
        Ok(Ok(Read { now, reading }))
    }
}

/// Everything that a turn has read, and the instant of the turn.
pub(super) struct Read {
    pub(super) now: Timestamp,
    pub(super) reading: Reading,
}

impl Read {
    /// A turn that asks for no key pays for none (R47).
    fn without_keys(
        taking: &Taking<'_>,
        now: Timestamp,
        presence: &Presence,
        candidates: Vec<Candidate>,
        judging: Judging,
    ) -> Self {
        let fleet = presence.fleet(taking.dispatch.worker, now);
        let turn = Turn {
            now,
            fleet: fleet.clone(),
            room: taking.dispatch.room,
            candidates,
            lanes: Vec::new(),
            keys: std::collections::BTreeMap::new(),
        };
        let reading = Reading {
            turn,
            fleet,
            lanes: std::collections::BTreeMap::new(),
            looked_at: std::collections::BTreeMap::new(),
            jobs: judging.jobs,
            failed: judging.failed,
        };
        Self { now, reading }
    }
}

/// The keys of a turn: what was freed, what asked to be looked at, and all that its lanes and candidates ask.
fn keys(
    ended: &Ended,
    looks: Vec<KeyId>,
    lanes: &[DueLane],
    candidates: &[Candidate],
) -> BTreeSet<KeyId> {
    let mut keys: BTreeSet<KeyId> = ended.freed.keys().cloned().chain(looks).collect();
    keys.extend(lanes.iter().flat_map(|lane| lane.keys.iter().cloned()));
    let demands = candidates
        .iter()
        .flat_map(|candidate| candidate.waiter.demands.iter());
    keys.extend(demands.map(|demand| demand.key.clone()));
    keys
}
