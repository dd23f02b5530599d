//! Waiting jobs whose rows cannot be judged: they fail with a clear reason, and nobody else notices.

use std::collections::BTreeSet;

use sqlx::Row;
use warp_policy::Timestamp;
use warp_policy::admission::KeyId;
use warp_policy::ids::JobId;

use super::Inner;
use super::error::PostgresError;
use super::session::{Limits, statement};
use crate::sql::documents::json;
use crate::sql::judging::Unreadable;
use crate::sql::log::LogLines;

/// How often the keys of broken lanes are asked for, where their rows are forgotten meanwhile.
const TRIES: usize = 10;

impl Inner {
    /// Fails jobs and takes them out of their lanes, under the locks of all their keys: a waiting job belongs to its keys. The next turn
    /// reports them.
    pub(super) async fn mend(
        &self,
        jobs: &[Unreadable],
        now: Timestamp,
    ) -> Result<(), PostgresError> {
        let keys: BTreeSet<KeyId> = jobs.iter().flat_map(|job| job.keys.clone()).collect();
        self.add_rows(keys.clone()).await?;
        for _ in 0..TRIES {
            let mut session = self.begin(Limits::SHORT).await?;
            let locks = self.lock_waiting(&mut session, &keys).await?;
            if locks.locked != keys {
                session.roll_back().await?;
                let unlocked = keys.difference(&locks.locked).cloned();
                self.add_missing_rows(unlocked.collect()).await?;
                continue;
            }
            let mend = statement(&self.statements.mend).bind(json(jobs));
            let rows = session.rows(mend.bind(now.as_micros())).await?;
            let failed: Result<BTreeSet<i64>, _> = rows.iter().map(|row| row.try_get(0)).collect();
            let failed = failed.map_err(|error| session.damaged(error.to_string()))?;
            let failed = |job: JobId| failed.contains(&job.get());

            let lanes: BTreeSet<_> = jobs.iter().map(|job| job.lane).collect();
            let mend_lanes = statement(&self.statements.mend_lanes).bind(json(&lanes));
            session.execute(mend_lanes.bind(now.as_micros())).await?;
            let mut log = LogLines::default();
            for job in jobs.iter().filter(|job| failed(job.job)) {
                log.failed(job.job, None, &job.error);
            }
            let log_write = statement(&self.statements.log_write).bind(json(&log.lines));
            session.execute(log_write.bind(now.as_micros())).await?;
            session.commit().await?;
            for job in jobs.iter().filter(|job| failed(job.job)) {
                self.report_later(job.job, job.error.clone());
            }
            return Ok(());
        }
        let place = self.place.clone();
        Err(PostgresError::Restless { place })
    }
}
