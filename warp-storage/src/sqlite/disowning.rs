//! Attempts whose ends cannot be written.

use warp_policy::ids::{ClaimId, WorkerId};

use super::Inner;
use super::error::SqliteError;
use super::statements::{GIVE_BACK, RUNNING, WORKERS};
use crate::model::{Loss, Sweep};
use crate::sql::documents::{Presence, RunningJobs, json};
use crate::sql::given_back::lost;
use crate::sql::log::LogLines;

impl Inner {
    /// Tells whether the claim was still held.
    pub(super) async fn disown(
        &self,
        worker: WorkerId,
        claim: ClaimId,
        error: &str,
        sweep: Sweep,
    ) -> Result<bool, SqliteError> {
        let mut session = self.writer.begin().await?;
        let now = self.clock.now();
        let running = sqlx::query(RUNNING).bind(worker.get()).bind(claim.get());
        let running: RunningJobs = session.document(running).await?;
        if running.jobs.is_empty() {
            session.roll_back().await?;
            return Ok(false);
        }
        let presence: Presence = session.document(sqlx::query(WORKERS)).await?;
        let mut log = LogLines::default();
        let loss = Loss::Disowned { worker, error };
        let back = lost(&running, loss, sweep, now, &mut log);
        session
            .execute(sqlx::query(GIVE_BACK).bind(json(&back)))
            .await?;
        log.write(&mut session, presence.last_line, now).await?;
        self.restore(&mut session, &running.keys, now).await?;
        session.commit().await?;
        Ok(true)
    }
}
