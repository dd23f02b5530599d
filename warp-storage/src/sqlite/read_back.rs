//! What a worker runs, for one whose last turn was not answered.

use std::collections::BTreeSet;

use serde::Deserialize;
use warp_policy::ids::{ClaimId, WorkerId};

use super::Inner;
use super::statements::READ_BACK;
use crate::error::StoreError;
use crate::model::ReadBack;
use crate::sql::documents::{json, truth};
use crate::sql::read_back::RunningClaims;

#[derive(Debug, Deserialize)]
struct Answer {
    #[serde(deserialize_with = "truth")]
    is_registered: bool,
    #[serde(flatten)]
    running: RunningClaims,
}

impl Inner {
    /// A connection that was given up in the middle may still be writing: under the write lock that is over.
    pub(super) async fn read_back(
        &self,
        worker: WorkerId,
        known: &BTreeSet<ClaimId>,
    ) -> Result<ReadBack, StoreError> {
        let mut session = self.writer.begin().await?;
        let read = sqlx::query(READ_BACK).bind(worker.get()).bind(json(known));
        let answer: Answer = session.document(read).await?;
        session.roll_back().await?;
        if answer.is_registered {
            Ok(answer.running.read_back(known))
        } else {
            Err(StoreError::WorkerGone { worker })
        }
    }
}
