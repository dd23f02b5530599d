//! Workers come and go.

use std::collections::BTreeSet;

use serde::Deserialize;
use sqlx::Row;
use warp_policy::Timestamp;
use warp_policy::admission::KeyId;
use warp_policy::ids::WorkerId;

use super::Inner;
use super::error::PostgresError;
use super::session::{At, Limits, Session, Statement, statement};
use crate::error::StoreError;
use crate::model::{Loss, NewWorker, Sweep};
use crate::sql::documents::{Presence, RunningJobs, WorkerRow, json};
use crate::sql::given_back::{lost, returned};
use crate::sql::log::LogLines;

/// How often a worker is taken out, where rows are forgotten, or have to be mended, meanwhile.
const TRIES: usize = 100;

#[derive(Debug, Deserialize)]
struct Present {
    presence: Presence,
}

/// What a worker runs, and the keys of the lanes of its routes.
#[derive(Debug, Deserialize)]
struct Leaving {
    #[serde(flatten)]
    running: RunningJobs,
    lane_keys: BTreeSet<KeyId>,
}

impl Leaving {
    fn keys(&self) -> BTreeSet<KeyId> {
        let running = self.running.keys.iter().cloned();
        running.chain(self.lane_keys.iter().cloned()).collect()
    }
}

impl Inner {
    pub(super) async fn presence(&self) -> Result<At<Presence>, PostgresError> {
        let present: At<Present> = self.document_at(|| self.workers()).await?;
        Ok(present.presence())
    }

    pub(super) async fn presence_in(
        &self,
        session: &mut Session,
    ) -> Result<At<Presence>, PostgresError> {
        let present: At<Present> = session.document_at(self.workers()).await?;
        Ok(present.presence())
    }

    fn workers(&self) -> Statement {
        statement(&self.statements.workers).bind(self.time.given())
    }

    pub(super) async fn register(&self, worker: NewWorker) -> Result<WorkerId, PostgresError> {
        let (queues, kinds) = (json(&worker.queues), json(&worker.kinds));
        let mut session = self.begin(Limits::SHORT).await?;
        let register = statement(&self.statements.register)
            .bind(worker.name)
            .bind(self.time.given())
            .bind(queues.clone())
            .bind(kinds.clone())
            .bind(i64::try_from(worker.lease.as_micros()).unwrap_or(i64::MAX));
        let rows = session.rows(register).await?;
        let row = rows.first();
        let registered = row.map_or(Ok((0, 0)), |row| Ok((row.try_get(0)?, row.try_get(1)?)));
        let (id, now): (i64, i64) =
            registered.map_err(|error| PostgresError::of(&self.place, error))?;
        let look = statement(&self.statements.look_at_lines);
        session
            .execute(look.bind(queues).bind(now).bind(kinds))
            .await?;
        session.commit().await?;
        Ok(WorkerId::new(id))
    }

    /// Notes that a worker is alive, and whether it drains from now on. Tells whether its lease had run out before anybody declared it
    /// dead: then others have judged without it.
    pub(super) async fn touch(&self, worker: WorkerId, drains: bool) -> Result<bool, StoreError> {
        let At {
            now,
            document: presence,
        } = self.presence().await?;
        let gone = StoreError::WorkerGone { worker };
        let Some(row) = presence.of(worker) else {
            return Err(gone);
        };
        let came_back = !row.is_alive(now);
        let touch = || {
            statement(&self.statements.touch)
                .bind(worker.get())
                .bind(now.as_micros())
                .bind(drains)
        };
        let touched = if came_back || drains {
            // The keys first, as in a turn, which notes itself on the worker's row at its end.
            let mut session = self.begin(Limits::SHORT).await?;
            session.execute(self.look_at_lines(row, now)).await?;
            let touched = session.rows(touch()).await?;
            session.commit().await?;
            touched
        } else {
            self.rows(touch).await?
        };
        if touched.is_empty() {
            return Err(gone);
        }
        Ok(came_back)
    }

    pub(super) async fn deregister(&self, worker: WorkerId) -> Result<(), StoreError> {
        match self.take_out(worker, None).await? {
            Some(_) => Ok(()),
            None => Err(StoreError::WorkerGone { worker }),
        }
    }

    /// Takes out a worker that leaves, or one that is silent if there is a sweep, and gives back what it ran. Returns how many jobs that
    /// were; `None` where there is no such worker.
    pub(super) async fn take_out(
        &self,
        worker: WorkerId,
        sweep: Option<Sweep>,
    ) -> Result<Option<usize>, PostgresError> {
        for _ in 0..TRIES {
            let leaving: Leaving = self.document(self.running(worker)).await?;
            self.add_rows(leaving.keys()).await?;
            let mut session = self.begin(Limits::SHORT).await?;
            let lock = statement(&self.statements.worker_lock).bind(worker.get());
            if session.rows(lock).await?.is_empty() {
                session.roll_back().await?;
                return Ok(None);
            }
            // A turn that was under way has committed.
            let leaving: Leaving = session.document(self.running(worker)).await?;
            let keys = leaving.keys();
            let locks = self.lock_waiting(&mut session, &keys).await?;
            if locks.locked != keys {
                session.roll_back().await?;
                let unlocked = keys.difference(&locks.locked).cloned();
                self.add_missing_rows(unlocked.collect()).await?;
                continue;
            }
            let At {
                now,
                document: presence,
            } = self.presence_in(&mut session).await?;
            let row = presence.of(worker);
            let Some(row) = row.filter(|row| sweep.is_none() || !row.is_alive(now)) else {
                session.roll_back().await?;
                return Ok(None);
            };
            self.give_back(&mut session, &leaving.running, row, sweep, now)
                .await?;
            match self.restore(&mut session, &leaving.running.keys).await? {
                Ok(_) => {
                    session.commit().await?;
                    return Ok(Some(leaving.running.jobs.len()));
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

    /// Gives back what a worker ran and removes it. The lines in which its lanes stand are looked at.
    async fn give_back(
        &self,
        session: &mut Session,
        running: &RunningJobs,
        worker: &WorkerRow,
        sweep: Option<Sweep>,
        now: Timestamp,
    ) -> Result<(), PostgresError> {
        let mut log = LogLines::default();
        let back = match sweep {
            Some(sweep) => {
                let loss = Loss::WithWorker {
                    worker: worker.id,
                    together: running.jobs.len(),
                };
                lost(running, loss, sweep, now, &mut log)
            }
            None => returned(running, worker.id, now, &mut log),
        };
        let give_back = statement(&self.statements.give_back)
            .bind(worker.id.get())
            .bind(now.as_micros())
            .bind(json(&back))
            .bind(json(&log.lines));
        session.execute(give_back).await?;
        session.execute(self.look_at_lines(worker, now)).await
    }

    fn running(&self, worker: WorkerId) -> Statement {
        let running = statement(&self.statements.running);
        running.bind(worker.get()).bind(None::<i64>)
    }

    /// Who can run a lane decides who waits behind it: when a worker comes or goes, the lines in which its lanes stand are looked at.
    fn look_at_lines(&self, worker: &WorkerRow, now: Timestamp) -> Statement {
        statement(&self.statements.look_at_lines)
            .bind(json(&worker.queues))
            .bind(now.as_micros())
            .bind(json(&worker.kinds))
    }

    /// Has the lines of a worker looked at that was silent for its lease without being declared dead.
    pub(super) async fn look_at_lines_of(
        &self,
        worker: WorkerId,
        now: Timestamp,
    ) -> Result<(), PostgresError> {
        let presence = self.presence().await?.document;
        let Some(row) = presence.of(worker) else {
            return Ok(());
        };
        let mut session = self.begin(Limits::SHORT).await?;
        session.execute(self.look_at_lines(row, now)).await?;
        session.commit().await
    }
}

impl At<Present> {
    fn presence(self) -> At<Presence> {
        At {
            now: self.now,
            document: self.document.presence,
        }
    }
}
