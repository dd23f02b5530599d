//! Attempts whose ends cannot be written.

use std::collections::BTreeSet;

use warp_policy::admission::KeyId;
use warp_policy::ids::{ClaimId, WorkerId};

use super::Inner;
use super::error::PostgresError;
use super::session::{At, Limits, Statement, statement};
use crate::model::{Loss, Sweep};
use crate::sql::documents::{RunningJobs, json};
use crate::sql::given_back::lost;
use crate::sql::log::LogLines;

/// How often it is tried, where rows are forgotten, or have to be mended, meanwhile.
const TRIES: usize = 100;

impl Inner {
    /// Tells whether the claim was still held.
    pub(super) async fn disown(
        &self,
        worker: WorkerId,
        claim: ClaimId,
        error: &str,
        sweep: Sweep,
    ) -> Result<bool, PostgresError> {
        for _ in 0..TRIES {
            let mut session = self.begin(Limits::SHORT).await?;
            // While the worker's row is locked nobody gives back what it runs.
            let lock = statement(&self.statements.worker_lock).bind(worker.get());
            session.execute(lock).await?;
            let running: RunningJobs = session.document(self.the_one(worker, claim)).await?;
            if running.jobs.is_empty() {
                session.roll_back().await?;
                return Ok(false);
            }
            let keys: BTreeSet<KeyId> = running.keys.iter().cloned().collect();
            let locks = self.lock_waiting(&mut session, &keys).await?;
            if locks.locked != keys {
                session.roll_back().await?;
                let unlocked = keys.difference(&locks.locked).cloned();
                self.add_missing_rows(unlocked.collect()).await?;
                continue;
            }
            let At { now, .. } = self.presence_in(&mut session).await?;
            let mut log = LogLines::default();
            let loss = Loss::Disowned { worker, error };
            let back = lost(&running, loss, sweep, now, &mut log);
            let disown = statement(&self.statements.disown)
                .bind(worker.get())
                .bind(now.as_micros())
                .bind(json(&back))
                .bind(json(&log.lines));
            session.execute(disown).await?;
            match self.restore(&mut session, &running.keys).await? {
                Ok(_) => {
                    session.commit().await?;
                    return Ok(true);
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

    fn the_one(&self, worker: WorkerId, claim: ClaimId) -> Statement {
        let running = statement(&self.statements.running);
        running.bind(worker.get()).bind(claim.get())
    }
}
