//! What a store has cost so far.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// What this opened store has cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Statements that were sent to SQLite, `BEGIN` and `COMMIT` included.
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
    /// Times that the write lock had to be waited for.
    pub lock_waits: u64,
    /// The longest wait for the write lock.
    pub longest_lock_wait: Duration,
}

#[derive(Debug, Default)]
pub(super) struct Counts {
    statements: AtomicU64,
    transactions: AtomicU64,
    bytes_read: AtomicU64,
    turns: AtomicU64,
    candidates: AtomicU64,
    lanes: AtomicU64,
    lock_waits: AtomicU64,
    longest_lock_wait: AtomicU64,
    had_to_wait: AtomicBool,
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

    /// Notes how long the write lock was waited for.
    pub(super) fn waited(&self, wait: Option<Duration>) {
        self.had_to_wait.store(wait.is_some(), Ordering::Relaxed);
        if let Some(wait) = wait {
            self.lock_waits.fetch_add(1, Ordering::Relaxed);
            let micros = u64::try_from(wait.as_micros()).unwrap_or(u64::MAX);
            self.longest_lock_wait.fetch_max(micros, Ordering::Relaxed);
        }
    }

    /// Whether the write lock had to be waited for when it was taken last.
    pub(super) fn had_to_wait(&self) -> bool {
        self.had_to_wait.load(Ordering::Relaxed)
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
            lock_waits: of(&self.lock_waits),
            longest_lock_wait: Duration::from_micros(of(&self.longest_lock_wait)),
        }
    }
}
