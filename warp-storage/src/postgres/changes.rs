//! How the changes of other processes are seen.

use std::sync::{Arc, Weak};
use std::time::Duration;

use sqlx::Row;

use super::Inner;
use super::error::PostgresError;
use super::jitter::about;
use super::session::statement;
use crate::clock::{Clock, SystemClock};

/// Announces now and then what others may have changed, for as long as the store lives and somebody listens. It looks at the number of the
/// last line of the log, which every job and every decision moves on. Processes that began together do not all look at once.
pub(super) fn watch(inner: &Arc<Inner>, every: Duration) {
    let inner = Arc::downgrade(inner);
    tokio::spawn(async move {
        let mut before = Seen::default();
        loop {
            SystemClock.sleep(about(every)).await;
            match look(&inner, before).await {
                Some(seen) => before = seen,
                None => return,
            }
        }
    });
}

/// What was seen at the last look, and whether it was new then: a number is given out before its transaction commits, so the look after
/// that one announces it once more.
#[derive(Clone, Copy, Default)]
struct Seen {
    last_line: Option<i64>,
    was_new: bool,
}

/// What is seen now; `None` once the store is gone.
async fn look(inner: &Weak<Inner>, before: Seen) -> Option<Seen> {
    let inner = inner.upgrade()?;
    if !inner.announcements.is_heard() {
        return Some(before);
    }
    // A server in trouble is found to be so by those who use it.
    let Ok(last_line) = inner.last_line().await else {
        return Some(Seen::default());
    };
    let is_new = before.last_line != Some(last_line);
    if is_new || before.was_new {
        inner.announcements.catch_up();
    }
    Some(Seen {
        last_line: Some(last_line),
        was_new: is_new,
    })
}

impl Inner {
    async fn last_line(&self) -> Result<i64, PostgresError> {
        let rows = self.rows(|| statement(&self.statements.changes)).await?;
        let number = rows.first().map_or(Ok(0), |row| row.try_get(0));
        number.map_err(|error| PostgresError::of(&self.place, error))
    }
}
