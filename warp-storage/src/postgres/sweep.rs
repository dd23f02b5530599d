//! The sweep: the dead are buried, lost wake-ups are repaired, idle limiters are forgotten. Each in transactions of its own.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use sqlx::Row;
use warp_policy::Timestamp;
use warp_policy::admission::KeyId;

use super::Inner;
use super::error::PostgresError;
use super::reading::{LockedKeys, Question};
use super::session::{At, Limits, Session, statement};
use super::writing::Writes;
use crate::model::{Sweep, Swept};
use crate::sql::agenda::went_back;
use crate::sql::documents::{SweepPart, SweptLimiter, family, json};
use crate::sql::judging::{Judging, Unreadable};
use crate::sql::limiters::{Asking, NOBODY};
use crate::sql::lines::{Heads, LineWrites};
use crate::sql::log::LogLines;
use crate::sql::reading::number;
use crate::sql::sweeping::{Overslept, SWEEP_BATCH, idle, overslept, restored};

/// How often lines are restored, where rows are forgotten, or have to be mended, meanwhile.
const TRIES: usize = 100;

/// A limiter to forget, as it was read.
#[derive(Serialize)]
struct IdleLimiter<'a> {
    #[serde(flatten)]
    key: &'a KeyId,
    rate: Option<&'a str>,
}

impl Inner {
    pub(super) async fn sweep(&self, sweep: Sweep) -> Result<Swept, PostgresError> {
        let mut cursors = self.cursors.lock().await;
        let At {
            now,
            document: presence,
        } = self.presence().await?;
        if went_back(presence.latest, now) {
            self.notice_clock(now).await?;
        }
        self.rows(|| statement(&self.statements.seen).bind(now.as_micros()))
            .await?;
        let mut swept = Swept::default();
        for worker in presence.workers.iter().filter(|row| !row.is_alive(now)) {
            if let Some(jobs) = self.take_out(worker.id, Some(sweep)).await? {
                swept.dead.push((worker.id, jobs));
            }
        }
        let [(line_family, line_key), (limiter_family, limiter_key)] = cursors.texts();
        let next_part = statement(&self.statements.sweep)
            .bind(line_family)
            .bind(line_key)
            .bind(limiter_family)
            .bind(limiter_key)
            .bind(number(SWEEP_BATCH));
        let part: SweepPart = self.document(next_part).await?;
        cursors.go_on(&part);
        swept.repaired = self.repair(part.lines.into_iter().collect(), now).await?;
        swept.forgotten = self.forget_idle(part.limiters, now).await?;
        Ok(swept)
    }

    /// Restores lines, but for those of keys that somebody holds, who restores them anyway.
    async fn repair(&self, keys: BTreeSet<KeyId>, now: Timestamp) -> Result<usize, PostgresError> {
        self.add_rows(keys.clone()).await?;
        for _ in 0..TRIES {
            let mut session = self.begin(Limits::SHORT).await?;
            let locks = self.lock_at_once(&mut session, &keys).await?;
            if !locks.missing.is_empty() {
                session.roll_back().await?;
                self.add_missing_rows(locks.missing).await?;
                continue;
            }
            let locked: Vec<KeyId> = locks.locked.into_iter().collect();
            match self.restore(&mut session, &locked).await? {
                Ok(repaired) => {
                    session.commit().await?;
                    return Ok(repaired);
                }
                Err(unreadable) => {
                    session.roll_back().await?;
                    self.mend(&unreadable, now).await?;
                }
            }
        }
        let place = self.place.clone();
        Err(PostgresError::Restless { place })
    }

    /// Restores the lines of locked keys that changed outside a worker's turn. Returns how many lanes slept on although they could go, and
    /// nobody was told to look at them; or what has to be mended first.
    pub(super) async fn restore(
        &self,
        session: &mut Session,
        keys: &[KeyId],
    ) -> Result<Result<usize, Vec<Unreadable>>, PostgresError> {
        if keys.is_empty() {
            return Ok(Ok(0));
        }
        let question = Question {
            keys,
            ..Question::default()
        };
        let At { now, document } = self.read_keys(session, question).await?;
        let LockedKeys {
            keys: document,
            presence,
            ..
        } = document;
        let fleet = presence.fleet(NOBODY, now);
        let mut judging = Judging::default();
        let asking = Asking { fleet: &fleet, now };
        let limiters = asking.limiters(keys, document, &mut judging);
        let limiters = limiters.map_err(|what| session.damaged(what))?;
        if !judging.unreadable.is_empty() {
            return Ok(Err(judging.unreadable));
        }
        let decided = restored(&limiters, fleet, now);
        let mut woken = 0;
        for update in &decided.lanes {
            if let Some(lane) = overslept(update, &limiters) {
                woken += usize::from(self.is_lost_wake_up(session, lane).await?);
            }
        }
        let looked_at = limiters.looked_at(now);
        let writes = Writes {
            worker: None,
            now,
            jobs: &[],
            lines: &LineWrites::of(&decided, &Heads::default(), &limiters.lanes, &looked_at),
            lanes: &limiters.lanes,
            log: &LogLines::default(),
        };
        self.write(session, &writes).await?;
        Ok(Ok(woken))
    }

    /// Whether no other lane of its route is due on the key by then.
    async fn is_lost_wake_up(
        &self,
        session: &mut Session,
        Overslept {
            lane,
            sleeps_on,
            at,
        }: Overslept<'_>,
    ) -> Result<bool, PostgresError> {
        let timed = statement(&self.statements.timed)
            .bind(lane.route.queue.to_string())
            .bind(lane.route.kind.to_string())
            .bind(family(sleeps_on.family))
            .bind(sleeps_on.key.to_string())
            .bind(at.as_micros());
        let rows = session.rows(timed).await?;
        let is_seen = rows.first().map_or(Ok(false), |row| row.try_get(0));
        let is_seen: bool = is_seen.map_err(|error| session.damaged(error.to_string()))?;
        Ok(!is_seen)
    }

    /// Forgets the limiters that a fresh one would answer the same as (R68). Whether they are in use is asked once more when they are
    /// locked; who waits for the lock of a row that is forgotten finds that it has none.
    async fn forget_idle(
        &self,
        rows: Vec<SweptLimiter>,
        now: Timestamp,
    ) -> Result<usize, PostgresError> {
        let rates: BTreeMap<KeyId, Option<String>> = rows
            .iter()
            .map(|row| (row.key.clone(), row.rate.clone()))
            .collect();
        let idle = idle(rows, now).map_err(|what| self.damaged(what))?;
        if idle.is_empty() {
            return Ok(0);
        }
        let mut session = self.begin(Limits::SHORT).await?;
        let idle = idle.into_iter().collect();
        let locked = self.lock_at_once(&mut session, &idle).await?.locked;
        let limiters: Vec<IdleLimiter<'_>> = locked
            .iter()
            .map(|key| IdleLimiter {
                key,
                rate: rates.get(key).and_then(Option::as_deref),
            })
            .collect();
        let forget = statement(&self.statements.forget).bind(json(&limiters));
        let forgotten = session.rows(forget).await?.len();
        session.commit().await?;
        Ok(forgotten)
    }
}
