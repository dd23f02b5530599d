//! Jobs that are cancelled.

use warp_policy::ids::JobId;

use super::Inner;
use super::error::SqliteError;
use super::mend::take_out_of;
use super::statements::{CANCEL, CANCELLING, WORKERS};
use crate::model::Cancelled;
use crate::sql::cancelling::ToCancel;
use crate::sql::documents::Presence;

impl Inner {
    pub(super) async fn cancel(&self, id: JobId) -> Result<Cancelled, SqliteError> {
        let mut session = self.writer.begin().await?;
        let now = self.clock.now();
        let read = sqlx::query(CANCELLING).bind(id.get());
        let job = match session.document::<ToCancel>(read).await?.left_to_do() {
            Ok(job) => job,
            Err(done) => {
                session.roll_back().await?;
                return Ok(done);
            }
        };
        let cancel = sqlx::query(CANCEL).bind(id.get()).bind(now.as_micros());
        session.execute(cancel).await?;
        let presence: Presence = session.document(sqlx::query(WORKERS)).await?;
        let (cancelled, log) = job.cancelled(id);
        log.write(&mut session, presence.last_line, now).await?;
        if let Some(lane) = job.lane {
            take_out_of(&mut session, &[lane], now).await?;
            self.restore(&mut session, &job.keys, now).await?;
        }
        session.commit().await?;
        Ok(cancelled)
    }
}
