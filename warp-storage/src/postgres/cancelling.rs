//! Jobs that are cancelled. A job is read first and locked then, since what has to be locked depends on where it is: a waiting one belongs
//! to its keys, a running one to its worker. Where it has moved on meanwhile, it is read again.

use warp_policy::Timestamp;
use warp_policy::admission::KeyId;
use warp_policy::ids::{JobId, LaneId};

use super::Inner;
use super::error::PostgresError;
use super::session::{At, Limits, Session, statement};
use crate::model::{Cancelled, JobState};
use crate::sql::cancelling::{SeenJob, ToCancel};
use crate::sql::documents::json;

/// How often a job is read that has moved on each time.
const TRIES: usize = 100;

impl Inner {
    pub(super) async fn cancel(&self, id: JobId) -> Result<Cancelled, PostgresError> {
        for _ in 0..TRIES {
            let read = statement(&self.statements.cancelling)
                .bind(id.get())
                .bind(self.time.given());
            let At { now, document } = self.document::<At<ToCancel>>(read).await?;
            let job = match document.left_to_do() {
                Ok(job) => job,
                Err(done) => return Ok(done),
            };
            if let Some(cancelled) = self.cancel_where_it_is(id, &job, now).await? {
                return Ok(cancelled);
            }
        }
        let place = self.place.clone();
        Err(PostgresError::Restless { place })
    }

    /// Cancels a job; `None` if it is no longer where it was seen, or something else has to be done first, which was done.
    async fn cancel_where_it_is(
        &self,
        id: JobId,
        job: &SeenJob,
        now: Timestamp,
    ) -> Result<Option<Cancelled>, PostgresError> {
        let keys = job.keys.iter().cloned().collect();
        self.add_rows(job.keys.iter().cloned()).await?;
        let mut session = self.begin(Limits::SHORT).await?;
        let locks = self.lock_waiting(&mut session, &keys).await?;
        if locks.locked != keys {
            session.roll_back().await?;
            self.add_missing_rows(locks.missing).await?;
            return Ok(None);
        }
        if let Some(worker) = job.worker {
            // It is not taken out before this commits: whoever does that reads what it runs first.
            let share = statement(&self.statements.worker_share).bind(worker.get());
            session.execute(share).await?;
        }
        let cancel = statement(&self.statements.cancel)
            .bind(id.get())
            .bind(now.as_micros())
            .bind(job.state.to_string())
            .bind(job.lane.map(LaneId::get));
        if session.rows(cancel).await?.is_empty() {
            session.roll_back().await?;
            return Ok(None);
        }
        let (cancelled, log) = job.cancelled(id);
        let log_write = statement(&self.statements.log_write).bind(json(&log.lines));
        session.execute(log_write.bind(now.as_micros())).await?;
        if let Some(lane) = job.lane
            && !self.leave(&mut session, lane, &job.keys, now).await?
        {
            session.roll_back().await?;
            return Ok(None);
        }
        if job.state == JobState::Processing {
            self.tell_of_cancel(&mut session).await?;
        }
        session.commit().await?;
        Ok(Some(cancelled))
    }

    /// Restores the lines of a lane that one of its jobs has left; not if there is a job in them that has to be mended first.
    async fn leave(
        &self,
        session: &mut Session,
        lane: LaneId,
        keys: &[KeyId],
        now: Timestamp,
    ) -> Result<bool, PostgresError> {
        let mend_lanes = statement(&self.statements.mend_lanes).bind(json(&[lane]));
        session.execute(mend_lanes.bind(now.as_micros())).await?;
        Ok(self.restore(session, keys).await?.is_ok())
    }
}
