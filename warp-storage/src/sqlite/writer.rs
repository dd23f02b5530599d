//! The connection that writes, and how processes take turns on one file.

use std::mem;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use serde::de::DeserializeOwned;
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteConnectOptions, SqliteRow};
use sqlx::{ConnectOptions, Connection, Row, SqliteConnection};
use tokio::sync::{Mutex, OwnedMutexGuard};
use warp_policy::Timestamp;

use super::error::{SqliteError, is_busy};
use super::statistics::Counts;
use crate::clock::{Clock, SystemClock};

/// How often a process that waits for the lock asks for it.
const ASKS_EVERY: Duration = Duration::from_millis(1);

/// How long a process leaves the lock alone after it had it, where others may want it: long enough for each of them to ask.
const LEAVES_FOR: Duration = Duration::from_millis(2);

pub(super) type Statement = Query<'static, sqlx::Sqlite, SqliteArguments>;

/// The connection, unless it is to be opened, anew after trouble.
#[derive(Debug)]
enum Place {
    There(SqliteConnection),
    Missing,
    Closed,
}

/// The one connection of this process that writes.
///
/// SQLite's own way of waiting for the lock is unfair: who has just committed gets it again. So a process that wants it asks every
/// millisecond, and one that had it leaves it alone for two where others may be asking.
#[derive(Debug)]
pub(super) struct Writer {
    options: SqliteConnectOptions,
    patience: Duration,
    connection: Arc<Mutex<Place>>,
    /// Whether other processes may want the lock.
    is_shared: AtomicBool,
    /// When it last gave the lock back, in microseconds.
    released_at: Arc<AtomicI64>,
    counts: Arc<Counts>,
}

impl Writer {
    pub(super) fn new(
        options: SqliteConnectOptions,
        patience: Duration,
        connection: SqliteConnection,
    ) -> Self {
        Self {
            options,
            patience,
            connection: Arc::new(Mutex::new(Place::There(connection))),
            is_shared: AtomicBool::new(false),
            released_at: Arc::default(),
            counts: Arc::default(),
        }
    }

    pub(super) fn counts(&self) -> &Arc<Counts> {
        &self.counts
    }

    /// Notes whether workers of other processes are registered.
    pub(super) fn is_shared(&self, is_shared: bool) {
        self.is_shared.store(is_shared, Ordering::Relaxed);
    }

    /// The connection, for statements of their own.
    ///
    /// # Cancel safety
    /// A connection that is dropped in the middle is closed, and another one is opened next time.
    pub(super) async fn connection(&self) -> Result<Session, SqliteError> {
        let mut place = Arc::clone(&self.connection).lock_owned().await;
        if matches!(*place, Place::Closed) {
            let file = self.file().to_owned();
            return Err(SqliteError::Closed { file });
        }
        let connection = match mem::replace(&mut *place, Place::Missing) {
            Place::There(connection) => connection,
            Place::Missing | Place::Closed => self.connect().await?,
        };
        Ok(Session {
            place,
            connection: Some(connection),
            file: self.file().into(),
            released_at: Arc::clone(&self.released_at),
            counts: Arc::clone(&self.counts),
            in_transaction: false,
        })
    }

    /// A transaction that holds the write lock.
    pub(super) async fn begin(&self) -> Result<Session, SqliteError> {
        let mut session = self.connection().await?;
        session.in_transaction = true;
        let clock = SystemClock;
        if self.is_shared.load(Ordering::Relaxed) || self.counts.had_to_wait() {
            let released_at = Timestamp::from_micros(self.released_at.load(Ordering::Relaxed));
            let left_for = clock.now().since(released_at);
            clock.sleep(LEAVES_FOR.saturating_sub(left_for)).await;
        }
        let mut asked_from = None;
        loop {
            match session.try_execute(sqlx::query("BEGIN IMMEDIATE")).await {
                Ok(()) => {
                    self.counts.transaction();
                    self.counts
                        .waited(asked_from.map(|from| clock.now().since(from)));
                    return Ok(session);
                }
                Err(error) if is_busy(&error) => {
                    let waited = clock.now().since(*asked_from.get_or_insert(clock.now()));
                    if waited >= self.patience {
                        session.keep();
                        return Err(SqliteError::Locked {
                            file: self.file().to_owned(),
                            waited,
                        });
                    }
                    clock.sleep(ASKS_EVERY).await;
                }
                Err(error) => return Err(SqliteError::of(self.file(), error)),
            }
        }
    }

    /// Opens the connection anew. The one before may still be closing, and holds its locks until it has.
    async fn connect(&self) -> Result<SqliteConnection, SqliteError> {
        let clock = SystemClock;
        let began = clock.now();
        loop {
            match self.options.connect().await {
                Err(error) if is_busy(&error) => {
                    let waited = clock.now().since(began);
                    if waited >= self.patience {
                        let file = self.file().to_owned();
                        return Err(SqliteError::Locked { file, waited });
                    }
                    clock.sleep(ASKS_EVERY).await;
                }
                done => return done.map_err(|error| SqliteError::of(self.file(), error)),
            }
        }
    }

    /// Closes the connection for good, once it is not in use.
    pub(super) async fn close(&self) -> Result<(), SqliteError> {
        let mut place = self.connection.lock().await;
        match mem::replace(&mut *place, Place::Closed) {
            Place::There(connection) => connection
                .close()
                .await
                .map_err(|error| SqliteError::of(self.file(), error)),
            Place::Missing | Place::Closed => Ok(()),
        }
    }

    fn file(&self) -> &Path {
        self.options.get_filename()
    }
}

/// The connection while somebody uses it. It goes back with [`keep`](Self::keep) or [`commit`](Self::commit); a session that ends in
/// any other way, with an error or a dropped future, closes it, which undoes what was not committed.
pub(super) struct Session {
    place: OwnedMutexGuard<Place>,
    connection: Option<SqliteConnection>,
    file: Arc<Path>,
    released_at: Arc<AtomicI64>,
    counts: Arc<Counts>,
    in_transaction: bool,
}

impl Session {
    /// Reads one document.
    pub(super) async fn document<D: DeserializeOwned>(
        &mut self,
        statement: Statement,
    ) -> Result<D, SqliteError> {
        let rows = self.rows(statement).await?;
        let text = rows.first().map_or(Ok(None), |row| text(row, 0));
        let text = text.map_err(|error| SqliteError::of(&self.file, error))?;
        let text = text.unwrap_or_default();
        self.counts.read(text.len());
        serde_json::from_str(&text).map_err(|error| self.damaged(error.to_string()))
    }

    pub(super) async fn rows(
        &mut self,
        statement: Statement,
    ) -> Result<Vec<SqliteRow>, SqliteError> {
        self.count();
        let rows = match &mut self.connection {
            Some(connection) => statement.fetch_all(connection).await,
            None => Err(sqlx::Error::WorkerCrashed),
        };
        rows.map_err(|error| SqliteError::of(&self.file, error))
    }

    pub(super) async fn execute(&mut self, statement: Statement) -> Result<(), SqliteError> {
        self.try_execute(statement)
            .await
            .map_err(|error| SqliteError::of(&self.file, error))
    }

    async fn try_execute(&mut self, statement: Statement) -> Result<(), sqlx::Error> {
        self.count();
        match &mut self.connection {
            Some(connection) => statement.execute(connection).await.map(|_| ()),
            None => Err(sqlx::Error::WorkerCrashed),
        }
    }

    /// Counts a statement, which is a transaction where none was begun.
    fn count(&self) {
        self.counts.statement();
        if !self.in_transaction {
            self.counts.transaction();
        }
    }

    /// Ends the transaction.
    pub(super) async fn commit(mut self) -> Result<(), SqliteError> {
        self.execute(sqlx::query("COMMIT")).await?;
        self.released_at
            .store(SystemClock.now().as_micros(), Ordering::Relaxed);
        self.keep();
        Ok(())
    }

    /// Gives up the transaction, of which nothing is left.
    pub(super) async fn roll_back(mut self) -> Result<(), SqliteError> {
        self.execute(sqlx::query("ROLLBACK")).await?;
        self.keep();
        Ok(())
    }

    /// Gives the connection back. There must be no transaction.
    pub(super) fn keep(mut self) {
        if let Some(connection) = self.connection.take() {
            *self.place = Place::There(connection);
        }
    }

    pub(super) fn damaged(&self, what: String) -> SqliteError {
        SqliteError::Damaged {
            file: self.file.to_path_buf(),
            what,
        }
    }
}

/// A text. Bytes that are no UTF-8 are replaced: whoever reads what is left of a damaged value fails alone.
pub(super) fn text(row: &SqliteRow, column: usize) -> Result<Option<String>, sqlx::Error> {
    let bytes: Option<&[u8]> = row.try_get_unchecked(column)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
}
