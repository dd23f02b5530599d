//! How processes tell each other of changes: `NOTIFY` on a channel that has the name of the schema, with the sender's name.
//!
//! It is a hint, and may be lost: the regular look (`changes.rs`) finds what was not told.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::Inner;
use super::error::PostgresError;
use super::jitter::about;
use super::session::{Session, Statement, statement};
use crate::clock::{Clock, SystemClock};

/// How long after a lost connection another one is tried.
const RECONNECTS_AFTER: Duration = Duration::from_secs(1);

/// Nobody's name: for what everybody should hear, the sender too.
const TO_ALL: &str = "";

/// What is said instead of a name when a running job was cancelled.
const CANCEL: &str = "cancel";

/// What a store tells others, and hears from them.
#[derive(Debug)]
pub(super) struct Notices {
    /// Its own name, by which it knows what it said itself.
    name: String,
    told: watch::Sender<u64>,
    tasks: OnceLock<[Task; 2]>,
}

/// A task that ends with its store.
#[derive(Debug)]
struct Task(AbortHandle);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Default for Notices {
    fn default() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let now = SystemClock.now().as_micros();
        Self {
            name: format!("{}-{now}-{number}", std::process::id()),
            told: watch::Sender::new(0),
            tasks: OnceLock::new(),
        }
    }
}

impl Notices {
    /// Tells others that there is something to see. What is told while an earlier notice is on its way goes with the next one.
    pub(super) fn tell(&self) {
        self.told.send_modify(|told| *told = told.wrapping_add(1));
    }
}

impl Inner {
    /// A notice that is sent when the transaction in which it is executed commits.
    pub(super) fn notice_to_all(&self) -> Option<Statement> {
        self.options.notifies().then(|| self.notice(TO_ALL))
    }

    /// Tells all workers, once the transaction commits, that a running job was cancelled.
    pub(super) async fn tell_of_cancel(&self, session: &mut Session) -> Result<(), PostgresError> {
        if self.options.notifies() {
            session.execute(self.notice(CANCEL)).await?;
        }
        Ok(())
    }

    fn notice(&self, sender: &str) -> Statement {
        statement(&self.statements.notify)
            .bind(self.options.channel().to_owned())
            .bind(sender.to_owned())
    }
}

/// Begins to tell and to hear. What happens from now on is heard, if the server can be reached.
pub(super) async fn start(inner: &Arc<Inner>, connection: PgConnectOptions) {
    if !inner.options.notifies() {
        return;
    }
    let ear = Ear {
        connection: connection.application_name("warp listener"),
        channel: inner.options.channel().to_owned(),
        inner: Arc::downgrade(inner),
    };
    let listener = ear.listen().await.ok();
    let tells = tokio::spawn(tell(Arc::downgrade(inner), inner.notices.told.subscribe()));
    let hears = tokio::spawn(ear.hear(listener));
    let tasks = [tells, hears].map(|task| Task(task.abort_handle()));
    // It is set once, here.
    let _ = inner.notices.tasks.set(tasks);
}

async fn tell(inner: Weak<Inner>, mut told: watch::Receiver<u64>) {
    while told.changed().await.is_ok() {
        let Some(inner) = inner.upgrade() else { return };
        // One that cannot be sent is found by the others' regular look.
        let _ = inner.rows(|| inner.notice(&inner.notices.name)).await;
    }
}

/// Listens to others.
struct Ear {
    connection: PgConnectOptions,
    channel: String,
    inner: Weak<Inner>,
}

impl Ear {
    async fn listen(&self) -> Result<PgListener, sqlx::Error> {
        let pool = PgPoolOptions::new()
            .max_connections(1)
            .max_lifetime(None)
            .idle_timeout(None)
            .connect_lazy_with(self.connection.clone());
        let mut listener = PgListener::connect_with(&pool).await?;
        listener.listen(&self.channel).await?;
        Ok(listener)
    }

    async fn hear(self, mut listener: Option<PgListener>) {
        loop {
            if let Some(listener) = &mut listener {
                while let Ok(notice) = listener.try_recv().await {
                    let Some(inner) = self.inner.upgrade() else {
                        return;
                    };
                    match notice {
                        Some(notice) if notice.payload() == CANCEL => inner.announcements.cancel(),
                        Some(notice) if notice.payload() == inner.notices.name => {}
                        Some(_) => inner.announce(),
                        // A connection was lost, and is there again: what was told in between is not told twice.
                        None => inner.announcements.catch_up(),
                    }
                }
            }
            SystemClock.sleep(about(RECONNECTS_AFTER)).await;
            listener = self.listen().await.ok();
            if let (Some(_), Some(inner)) = (&listener, self.inner.upgrade()) {
                inner.announcements.catch_up();
            }
        }
    }
}
