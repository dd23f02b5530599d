//! How the changes of others are seen.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use tokio::runtime::Handle;

use super::Inner;
use crate::clock::{Clock, SystemClock};

/// How often the file is looked at (R44).
const LOOKS_EVERY: Duration = Duration::from_millis(50);

/// What is noted of the count where it could not be asked.
const UNKNOWN: i64 = -1;

/// Announces what other connections commit, be it another process or a caller's own transaction, for as long as the store lives and somebody
/// listens. SQLite tells nobody; but it counts, and a connection that asks for the count is told whether another one has committed.
///
/// Call it whenever somebody begins to listen: the task of a runtime that has ended since is replaced.
pub(super) fn watch(inner: &Arc<Inner>) {
    let mut watcher = inner.watcher.lock().unwrap_or_else(PoisonError::into_inner);
    let is_watched = watcher.as_ref().is_some_and(|task| !task.is_finished());
    let Ok(runtime) = Handle::try_current() else {
        return;
    };
    if is_watched {
        return;
    }
    let inner = Arc::downgrade(inner);
    let task = runtime.spawn(async move {
        while look(&inner).await.is_some() {
            SystemClock.sleep(LOOKS_EVERY).await;
        }
    });
    *watcher = Some(task.abort_handle());
}

/// Announces what is new; `None` once the store is gone. The count is asked on the connection that writes, so that its own commits do
/// not count.
async fn look(inner: &Weak<Inner>) -> Option<()> {
    let inner = inner.upgrade()?;
    if !inner.announcements.is_heard() {
        return Some(());
    }
    // A file in trouble is found to be so by those who use it.
    let version = inner.data_version().await.unwrap_or(UNKNOWN);
    let before = inner.seen_version.swap(version, Ordering::Relaxed);
    if version != before && version != UNKNOWN {
        inner.announcements.catch_up();
    }
    Some(())
}
