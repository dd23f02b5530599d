//! What a store has cost so far.

use std::sync::atomic::{AtomicU64, Ordering};

/// What this opened store has cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Statements that were sent to the server; a `BEGIN` with its settings is one, and so is a `COMMIT`.
    pub statements: u64,
    /// Transactions that were begun, and statements outside of any.
    pub transactions: u64,
    /// Bytes of what they answered.
    pub bytes_read: u64,
    /// Dispatch turns.
    pub turns: u64,
    /// Ready jobs that were judged.
    pub candidates: u64,
    /// Lanes that were judged.
    pub lanes: u64,
}

#[derive(Debug, Default)]
pub(super) struct Counts {
    statements: AtomicU64,
    transactions: AtomicU64,
    bytes_read: AtomicU64,
    turns: AtomicU64,
    candidates: AtomicU64,
    lanes: AtomicU64,
}

impl Counts {
    pub(super) fn statement(&self) {
        self.statements.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn transaction(&self) {
        self.transactions.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn read(&self, bytes: usize) {
        self.bytes_read.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn turn(&self, candidates: usize, lanes: usize) {
        self.turns.fetch_add(1, Ordering::Relaxed);
        self.candidates
            .fetch_add(candidates as u64, Ordering::Relaxed);
        self.lanes.fetch_add(lanes as u64, Ordering::Relaxed);
    }

    pub(super) fn statistics(&self) -> Statistics {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Statistics {
            statements: of(&self.statements),
            transactions: of(&self.transactions),
            bytes_read: of(&self.bytes_read),
            turns: of(&self.turns),
            candidates: of(&self.candidates),
            lanes: of(&self.lanes),
        }
    }
}
