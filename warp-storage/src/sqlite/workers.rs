//! Presence come and go.

use sqlx::Row;
use warp_policy::Timestamp;
use warp_policy::ids::WorkerId;

use super::Inner;
use super::error::SqliteError;
use super::statements::{
    GIVE_BACK, LOOK_AT_LINES, REGISTER, RUNNING, STORE_LATEST, TOUCH, WORKER_DELETE, WORKERS,
};
use super::writer::{Session, Statement};
use crate::error::StoreError;
use crate::model::NewWorker;
use crate::sql::documents::{Presence, RunningJobs, WorkerRow, json};
use crate::sql::given_back::{Back, returned};
use crate::sql::log::LogLines;

impl Inner {
    pub(super) async fn register(&self, worker: NewWorker) -> Result<WorkerId, SqliteError> {
        let (queues, kinds) = (json(&worker.queues), json(&worker.kinds));
        let mut session = self.writer.begin().await?;
        let now = self.clock.now().as_micros();
        let statement = sqlx::query(REGISTER)
            .bind(worker.name)
            .bind(self.process.clone())
            .bind(queues.clone())
            .bind(kinds.clone())
            .bind(i64::try_from(worker.lease.as_micros()).unwrap_or(i64::MAX))
            .bind(now);
        let rows = session.rows(statement).await?;
        let id = rows.first().map_or(Ok(0), |row| row.try_get(0));
        let id: i64 = id.map_err(|error| SqliteError::of(&self.file, error))?;
        session
            .execute(
                sqlx::query(LOOK_AT_LINES)
                    .bind(queues)
                    .bind(kinds)
                    .bind(now),
            )
            .await?;
        session.commit().await?;
        Ok(WorkerId::new(id))
    }

    /// Notes that a worker is alive, and whether it drains from now on. Tells whether its lease had run out before anybody declared it
    /// dead: then others have judged without it.
    pub(super) async fn touch(&self, worker: WorkerId, drains: bool) -> Result<bool, StoreError> {
        let mut session = self.writer.begin().await?;
        let now = self.clock.now();
        let presence: Presence = session.document(sqlx::query(WORKERS)).await?;
        let Some(row) = presence.of(worker) else {
            session.roll_back().await?;
            return Err(StoreError::WorkerGone { worker });
        };
        let came_back = !row.is_alive(now);
        session
            .execute(
                sqlx::query(TOUCH)
                    .bind(worker.get())
                    .bind(now.as_micros())
                    .bind(i64::from(drains)),
            )
            .await?;
        if came_back || drains {
            look_at_lines_of(&mut session, row, now).await?;
        }
        session.commit().await?;
        Ok(came_back)
    }

    pub(super) async fn deregister(&self, worker: WorkerId) -> Result<(), StoreError> {
        let mut session = self.writer.begin().await?;
        let now = self.clock.now();
        let presence: Presence = session.document(sqlx::query(WORKERS)).await?;
        let Some(row) = presence.of(worker) else {
            session.roll_back().await?;
            return Err(StoreError::WorkerGone { worker });
        };
        let running: RunningJobs = session.document(all_running(worker)).await?;
        let mut log = LogLines::default();
        let back = returned(&running, worker, now, &mut log);
        remove(&mut session, &presence, row, &back, &log, now).await?;
        self.restore(&mut session, &running.keys, now).await?;
        session.commit().await?;
        Ok(())
    }
}

/// Asks for everything that a worker runs.
pub(super) fn all_running(worker: WorkerId) -> Statement {
    sqlx::query(RUNNING).bind(worker.get()).bind(None::<i64>)
}

/// Gives back what a worker ran and removes it. The lines in which its lanes stand are looked at.
pub(super) async fn remove(
    session: &mut Session,
    presence: &Presence,
    worker: &WorkerRow,
    back: &[Back],
    log: &LogLines,
    now: Timestamp,
) -> Result<(), SqliteError> {
    if !back.is_empty() {
        session
            .execute(sqlx::query(GIVE_BACK).bind(json(back)))
            .await?;
    }
    log.write(session, presence.last_line, now).await?;
    // What it saw of the clock must not go with it.
    session
        .execute(sqlx::query(STORE_LATEST).bind(presence.latest.as_micros()))
        .await?;
    session
        .execute(sqlx::query(WORKER_DELETE).bind(worker.id.get()))
        .await?;
    look_at_lines_of(session, worker, now).await
}

/// Who can run a lane decides who waits behind it: when a worker comes or goes, the lines in which its lanes stand are looked at.
async fn look_at_lines_of(
    session: &mut Session,
    worker: &WorkerRow,
    now: Timestamp,
) -> Result<(), SqliteError> {
    let statement = sqlx::query(LOOK_AT_LINES)
        .bind(json(&worker.queues))
        .bind(json(&worker.kinds))
        .bind(now.as_micros());
    session.execute(statement).await
}
