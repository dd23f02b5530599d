//! How the changes of others are seen.

use std::sync::{Arc, Weak};
use std::time::Duration;

use super::Inner;
use super::error::SqliteError;
use crate::clock::{Clock, SystemClock};

/// How often the file is looked at (R44).
const LOOKS_EVERY: Duration = Duration::from_millis(50);

/// Announces what other connections commit, be it another process or a caller's own transaction, for as long as the store lives and somebody
/// listens. SQLite tells nobody; but it counts, and a connection that asks for the count is told whether another one has committed.
pub(super) async fn watch(inner: &Arc<Inner>) -> Result<(), SqliteError> {
    let mut version = Some(inner.data_version().await?);
    let inner = Arc::downgrade(inner);
    tokio::spawn(async move {
        loop {
            SystemClock.sleep(LOOKS_EVERY).await;
            match look(&inner, version).await {
                Some(seen) => version = seen,
                None => return,
            }
        }
    });
    Ok(())
}

/// The count, and `None` once the store is gone. It is asked on the connection that writes, so that its own commits do not count.
async fn look(inner: &Weak<Inner>, before: Option<i64>) -> Option<Option<i64>> {
    let inner = inner.upgrade()?;
    if inner.changes.receiver_count() == 0 {
        return Some(before);
    }
    // A file in trouble is found to be so by those who use it.
    let Ok(version) = inner.data_version().await else {
        return Some(None);
    };
    if before != Some(version) {
        inner.announce();
    }
    Some(Some(version))
}
