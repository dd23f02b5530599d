//! Starts that share an instant.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// Some starts that count as if all of them had happened at `at`. Stored as `[at, starts]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(Timestamp, u32)", into = "(Timestamp, u32)")]
pub(super) struct Batch {
    pub(super) at: Timestamp,
    pub(super) starts: u32,
}

impl From<(Timestamp, u32)> for Batch {
    fn from((at, starts): (Timestamp, u32)) -> Self {
        Self { at, starts }
    }
}

impl From<Batch> for (Timestamp, u32) {
    fn from(batch: Batch) -> Self {
        (batch.at, batch.starts)
    }
}
