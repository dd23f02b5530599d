//! The sweep: the dead are buried, lost wake-ups are repaired, idle limiters are forgotten.

use sqlx::Row;
use warp_policy::Timestamp;
use warp_policy::admission::{Fleet, KeyId, LINE_READ, LaneUpdate, Turn, plan};

use super::Inner;
use super::documents::{
    Keys, Presence, RunningJobs, SweepPart, SweptLimiter, WorkerRow, family, json,
};
use super::error::SqliteError;
use super::judging::Judging;
use super::limiters::{Asking, Limiters, NOBODY, read_rate};
use super::lines::LineWrites;
use super::log::LogLines;
use super::mend::mend;
use super::reading::number;
use super::statements::{
    KEYS, LIMITERS_DELETE, RUNNING, STORE_LATEST, SWEEP, TIMED, WORKERS, WORKERS_SEEN,
};
use super::turn::notice_clock;
use super::workers::{Back, remove};
use super::writer::Session;
use crate::model::{Event, JobState, Sweep, Swept};

/// How many lines one sweep looks at, and how many limiters; the next one goes on from there.
const SWEEP_BATCH: usize = 256;

/// Where the last sweep stopped: among the keys with a line, and among the limiters.
#[derive(Debug, Default)]
pub(super) struct Cursors {
    line: Option<KeyId>,
    limiter: Option<KeyId>,
}

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
        let running: RunningJobs = session
            .document(sqlx::query(RUNNING).bind(worker.id.get()))
            .await?;
        let together = running.jobs.len();
        let mut log = LogLines::default();
        log.follow(presence.last_line);
        let mut back = Vec::with_capacity(together);
        for job in &running.jobs {
            log.add(
                job.id,
                None,
                &Event::Lost {
                    worker: worker.id,
                    together,
                },
                None,
            );
            let lost = job.lost + 1;
            let row = Back {
                job: job.id,
                state: JobState::Enqueued,
                place: Some(now),
                lost: 1,
                error: None,
                ended_at: None,
            };
            if lost < sweep.max_lost {
                back.push(row);
                continue;
            }
            let error = format!(
                "its worker died {lost} times; at most {} are allowed",
                sweep.max_lost
            );
            log.failed(job.id, None, &error);
            back.push(Back {
                state: JobState::Failed,
                error: Some(error),
                ended_at: Some(now),
                ..row
            });
        }
        remove(session, presence.latest, worker, &back, log, now).await?;
        self.restore(session, &running.keys, now).await?;
        Ok(together)
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
        let decided = plan(Turn {
            now,
            fleet,
            room: 0,
            candidates: Vec::new(),
            lanes: Vec::new(),
            keys: limiters.states.clone(),
        });
        let mut woken = 0;
        for update in &decided.lanes {
            woken += usize::from(is_lost_wake_up(session, update, &limiters).await?);
        }
        LineWrites::of(&decided, &limiters.lanes, &limiters.looked_at(now), 0)
            .write(session)
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
            log.follow(presence.last_line);
            for job in judging.unreadable {
                log.failed(job.job, None, &job.error);
                self.report_later(job.job, job.error);
            }
            log.write(session, now).await?;
        }
    }
}

/// Whether a lane slept on although it could go, and no turn would have looked at it in time: its key is not to be looked at by then, and no
/// other lane of its route is due there. A turn that reads a long line with gaps leaves those behind them to that one.
async fn is_lost_wake_up(
    session: &mut Session,
    update: &LaneUpdate,
    limiters: &Limiters,
) -> Result<bool, SqliteError> {
    let (Some(lane), Some(state)) = (limiters.lanes.get(&update.lane), &update.state) else {
        return Ok(false);
    };
    let Some(at) = state
        .next_at
        .filter(|&at| lane.next_at.is_none_or(|before| at < before))
    else {
        return Ok(false);
    };
    if limiters
        .looks
        .get(&state.sleeps_on)
        .is_some_and(|look| look.at <= at)
    {
        return Ok(false);
    }
    let statement = sqlx::query(TIMED)
        .bind(lane.route.queue.to_string())
        .bind(lane.route.kind.to_string())
        .bind(family(state.sleeps_on.family))
        .bind(state.sleeps_on.key.to_string())
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
    let text = |key: &Option<KeyId>| {
        key.as_ref().map_or((String::new(), String::new()), |key| {
            (family(key.family).to_owned(), key.key.to_string())
        })
    };
    let (line_family, line_key) = text(&cursors.line);
    let (limiter_family, limiter_key) = text(&cursors.limiter);
    let statement = sqlx::query(SWEEP)
        .bind(line_family)
        .bind(line_key)
        .bind(limiter_family)
        .bind(limiter_key)
        .bind(number(SWEEP_BATCH));
    let part: SweepPart = session.document(statement).await?;
    cursors.line = part
        .lines
        .last()
        .filter(|_| part.lines.len() == SWEEP_BATCH)
        .cloned();
    let limiters = &part.limiters;
    cursors.limiter = limiters
        .last()
        .filter(|_| limiters.len() == SWEEP_BATCH)
        .map(|row| row.key.clone());
    Ok(part)
}

/// Forgets the limiters that a fresh one would answer the same as (R68).
async fn forget_idle(
    session: &mut Session,
    rows: Vec<SweptLimiter>,
    now: Timestamp,
) -> Result<usize, SqliteError> {
    let mut idle = Vec::new();
    for row in rows.into_iter().filter(|row| !row.is_used) {
        let Some(text) = &row.rate else {
            idle.push(row.key);
            continue;
        };
        let mut rate = read_rate(&row.key, text).map_err(|what| session.damaged(what))?;
        rate.prune(now);
        if rate.is_fresh() {
            idle.push(row.key);
        }
    }
    if !idle.is_empty() {
        session
            .execute(sqlx::query(LIMITERS_DELETE).bind(json(&idle)))
            .await?;
    }
    Ok(idle.len())
}
