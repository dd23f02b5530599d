//! The sweep: the dead are buried, lost wake-ups are repaired, idle limiters are forgotten.

use sqlx::Row;
use warp_policy::Timestamp;
use warp_policy::admission::{Fleet, KeyId, LINE_READ};

use super::Inner;
use super::error::SqliteError;
use super::mend::mend;
use super::statements::{KEYS, LIMITERS_DELETE, STORE_LATEST, SWEEP, TIMED, WORKERS, WORKERS_SEEN};
use super::turn::notice_clock;
use super::workers::{all_running, remove};
use super::writer::Session;
use crate::model::{Loss, Sweep, Swept};
use crate::sql::documents::{
    Keys, Presence, RunningJobs, SweepPart, SweptLimiter, WorkerRow, family, json,
};
use crate::sql::given_back::lost;
use crate::sql::judging::Judging;
use crate::sql::limiters::{Asking, Limiters, NOBODY};
use crate::sql::lines::{Heads, LineWrites};
use crate::sql::log::LogLines;
use crate::sql::reading::number;
use crate::sql::sweeping::{Cursors, Overslept, SWEEP_BATCH, idle, overslept, restored};

impl Inner {
    pub(super) async fn sweep(&self, sweep: Sweep) -> Result<Swept, SqliteError> {
        let mut cursors = self.cursors.lock().await;
        let mut session = self.writer.begin().await?;
        let now = self.clock.now();
        let mut swept = Swept::default();
        let presence: Presence = session.document(sqlx::query(WORKERS)).await?;
        if !notice_clock(&mut session, &presence, now).await? {
            let latest = presence.latest.max(now);
            session
                .execute(sqlx::query(STORE_LATEST).bind(latest.as_micros()))
                .await?;
        }
        session
            .execute(sqlx::query(WORKERS_SEEN).bind(now.as_micros()))
            .await?;
        for worker in presence.workers.iter().filter(|row| !row.is_alive(now)) {
            let jobs = self.bury(&mut session, worker, sweep, now).await?;
            swept.dead.push((worker.id, jobs));
        }
        let part = next_part(&mut session, &mut cursors).await?;
        swept.repaired = self.restore(&mut session, &part.lines, now).await?;
        swept.forgotten = forget_idle(&mut session, part.limiters, now).await?;
        session.commit().await?;
        Ok(swept)
    }

    /// Removes a dead worker. Its jobs become ready with a new place, or fail where that has happened too often (R80, R84).
    async fn bury(
        &self,
        session: &mut Session,
        worker: &WorkerRow,
        sweep: Sweep,
        now: Timestamp,
    ) -> Result<usize, SqliteError> {
        let presence: Presence = session.document(sqlx::query(WORKERS)).await?;
        let running: RunningJobs = session.document(all_running(worker.id)).await?;
        let loss = Loss::WithWorker {
            worker: worker.id,
            together: running.jobs.len(),
        };
        let mut log = LogLines::default();
        let back = lost(&running, loss, sweep, now, &mut log);
        remove(session, &presence, worker, &back, &log, now).await?;
        self.restore(session, &running.keys, now).await?;
        Ok(running.jobs.len())
    }

    /// Restores the lines of keys that changed outside a worker's turn. Returns how many lanes slept on although they could go, and
    /// nobody was told to look at them.
    pub(super) async fn restore(
        &self,
        session: &mut Session,
        keys: &[KeyId],
        now: Timestamp,
    ) -> Result<usize, SqliteError> {
        if keys.is_empty() {
            return Ok(0);
        }
        let (fleet, limiters) = self.read_lines(session, keys, now).await?;
        let decided = restored(&limiters, fleet, now);
        let mut woken = 0;
        for update in &decided.lanes {
            if let Some(lane) = overslept(update, &limiters) {
                woken += usize::from(is_lost_wake_up(session, lane).await?);
            }
        }
        let looked_at = limiters.looked_at(now);
        LineWrites::of(&decided, &Heads::default(), &limiters.lanes, &looked_at)
            .write(session, 0)
            .await?;
        Ok(woken)
    }

    /// Reads lines in nobody's eyes. Jobs at their heads that cannot be judged fail on the way; the next turn reports them.
    async fn read_lines(
        &self,
        session: &mut Session,
        keys: &[KeyId],
        now: Timestamp,
    ) -> Result<(Fleet, Limiters), SqliteError> {
        loop {
            let presence: Presence = session.document(sqlx::query(WORKERS)).await?;
            let fleet = presence.fleet(NOBODY, now);
            let statement = sqlx::query(KEYS)
                .bind(json(keys))
                .bind(number(LINE_READ + 1))
                .bind("[]");
            let document: Keys = session.document(statement).await?;
            let mut judging = Judging::default();
            let asking = Asking { fleet: &fleet, now };
            let limiters = asking.limiters(keys, document, &mut judging);
            let limiters = limiters.map_err(|what| session.damaged(what))?;
            if judging.unreadable.is_empty() {
                return Ok((fleet, limiters));
            }
            mend(session, &judging.unreadable, now).await?;
            let mut log = LogLines::default();
            for job in judging.unreadable {
                log.failed(job.job, None, &job.error);
                self.report_later(job.job, job.error);
            }
            log.write(session, presence.last_line, now).await?;
        }
    }
}

/// Whether no other lane of its route is due on the key by then.
async fn is_lost_wake_up(
    session: &mut Session,
    Overslept {
        lane,
        sleeps_on,
        at,
    }: Overslept<'_>,
) -> Result<bool, SqliteError> {
    let statement = sqlx::query(TIMED)
        .bind(lane.route.queue.to_string())
        .bind(lane.route.kind.to_string())
        .bind(family(sleeps_on.family))
        .bind(sleeps_on.key.to_string())
        .bind(at.as_micros());
    let rows = session.rows(statement).await?;
    let is_seen: i64 = rows
        .first()
        .map_or(Ok(0), |row| row.try_get(0))
        .map_err(|error| session.damaged(error.to_string()))?;
    Ok(is_seen == 0)
}

/// The next lines and limiters after those that the last sweep came to.
async fn next_part(session: &mut Session, cursors: &mut Cursors) -> Result<SweepPart, SqliteError> {
    let [(line_family, line_key), (limiter_family, limiter_key)] = cursors.texts();
    let statement = sqlx::query(SWEEP)
        .bind(line_family)
        .bind(line_key)
        .bind(limiter_family)
        .bind(limiter_key)
        .bind(number(SWEEP_BATCH));
    let part: SweepPart = session.document(statement).await?;
    cursors.go_on(&part);
    Ok(part)
}

/// Forgets the limiters that a fresh one would answer the same as (R68).
async fn forget_idle(
    session: &mut Session,
    rows: Vec<SweptLimiter>,
    now: Timestamp,
) -> Result<usize, SqliteError> {
    let idle = idle(rows, now).map_err(|what| session.damaged(what))?;
    if !idle.is_empty() {
        session
            .execute(sqlx::query(LIMITERS_DELETE).bind(json(&idle)))
            .await?;
    }
    Ok(idle.len())
}
