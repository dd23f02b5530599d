//! What a worker runs by the store's account.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Deserialize;
use warp_policy::Timestamp;
use warp_policy::ids::{ClaimId, JobId};

use crate::model::{ReadBack, Started};

/// What `read_back.sql` answers.
#[derive(Debug, Deserialize)]
pub(crate) struct RunningClaims {
    claims: BTreeSet<ClaimId>,
    unknown: Vec<StartedRow>,
}

/// A job that was started, as its row tells.
#[derive(Debug, Deserialize)]
pub(crate) struct StartedRow {
    job: JobId,
    claim: ClaimId,
    kind: Arc<str>,
    queue: Arc<str>,
    payload: String,
    attempt: u32,
    admitted_at: Timestamp,
}

impl From<StartedRow> for Started {
    fn from(row: StartedRow) -> Self {
        Self {
            job: row.job,
            claim: row.claim,
            kind: row.kind,
            queue: row.queue,
            payload: row.payload,
            attempt: row.attempt,
            admitted_at: row.admitted_at,
        }
    }
}

impl RunningClaims {
    pub(crate) fn read_back(self, known: &BTreeSet<ClaimId>) -> ReadBack {
        ReadBack {
            held: self.claims.intersection(known).copied().collect(),
            started: self.unknown.into_iter().map(Started::from).collect(),
        }
    }
}
