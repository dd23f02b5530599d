//! What the handlers saw.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use warp_runtime::Timestamp;

/// The handlers' own record: what ran at once, and what started when.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record(Arc<Mutex<BTreeMap<String, Seen>>>);

/// What was seen of one key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Handlers that run now.
    pub(crate) running: usize,
    /// The most handlers that ever ran at once.
    pub(crate) most_running: usize,
    /// The admission instants.
    pub(crate) starts: Vec<Timestamp>,
}

/// A handler that runs, until it is dropped.
pub(crate) struct Run {
    record: Record,
    key: String,
}

impl Record {
    /// Notes that a handler began.
    pub(crate) fn begin(&self, key: &str, admitted_at: Timestamp) -> Run {
        let mut keys = self.lock();
        let seen = keys.entry(key.to_owned()).or_default();
        seen.running += 1;
        seen.most_running = seen.most_running.max(seen.running);
        seen.starts.push(admitted_at);
        Run {
            record: self.clone(),
            key: key.to_owned(),
        }
    }

    /// What was seen of a key.
    pub(crate) fn of(&self, key: &str) -> Seen {
        let mut seen = self.lock().get(key).cloned().unwrap_or_default();
        seen.starts.sort_unstable();
        seen
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Seen>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if let Some(seen) = self.record.lock().get_mut(&self.key) {
            seen.running -= 1;
        }
    }
}
