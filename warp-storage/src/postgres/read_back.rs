//! What a worker runs, for one whose last turn was not answered.

use std::collections::BTreeSet;

use warp_policy::ids::{ClaimId, WorkerId};

use super::Inner;
use super::session::{Limits, statement};
use crate::error::StoreError;
use crate::model::ReadBack;
use crate::sql::documents::json;
use crate::sql::read_back::RunningClaims;

impl Inner {
    /// A turn of the worker that is still under way holds its row: it is over before the next statement sees what there is.
    pub(super) async fn read_back(
        &self,
        worker: WorkerId,
        known: &BTreeSet<ClaimId>,
    ) -> Result<ReadBack, StoreError> {
        let mut session = self.begin(Limits::SHORT).await?;
        let lock = statement(&self.statements.worker_lock).bind(worker.get());
        if session.rows(lock).await?.is_empty() {
            session.roll_back().await?;
            return Err(StoreError::WorkerGone { worker });
        }
        let read = statement(&self.statements.read_back)
            .bind(worker.get())
            .bind(json(known));
        let running: RunningClaims = session.document(read).await?;
        session.commit().await?;
        Ok(running.read_back(known))
    }
}
