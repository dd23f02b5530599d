//! How a file is opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, SqliteConnection};

use super::error::{SqliteError, is_busy};
use super::writer::Writer;
use super::{Inner, Sqlite, migrations};
use crate::clock::{Clock, SystemClock};

/// How many connections beside the writer a process opens at most, for queries and for callers' transactions.
const MAX_CONNECTIONS: u32 = 8;

/// How long an opening process waits before it tries again where others are opening the file.
const OPENS_AGAIN: Duration = Duration::from_millis(5);

/// What SQLite and its drivers take for something else than a path begins so. Somebody who really has such a file says `./file:…`.
const NO_PATHS: [&str; 3] = [":memory:", "file:", "sqlite:"];

/// How a file is opened; see [`Sqlite::options`].
#[derive(Clone, Debug)]
#[must_use = "nothing is opened before `open`"]
pub struct SqliteOptions {
    file: PathBuf,
    synchronous: Synchronous,
    patience: Duration,
    max_pages: Option<u32>,
    program: migrations::Program,
    clock: Arc<dyn Clock>,
}

/// When a commit counts as safe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Synchronous {
    /// When the disk has it. No commit is lost, whatever happens to the machine.
    #[default]
    Full,
    /// When the operating system has it: several times as fast. If the machine loses its power or crashes, the commits of the last moments
    /// may be gone, all from one point on: a job that was enqueued then does not exist, one that ended then runs again, and a start may be
    /// forgotten by its limit. The file stays whole, and a crash of the process alone loses nothing.
    Normal,
}

impl SqliteOptions {
    pub(super) fn new(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
            synchronous: Synchronous::default(),
            patience: Duration::from_secs(5),
            max_pages: None,
            program: migrations::Program::default(),
            clock: Arc::new(SystemClock),
        }
    }

    /// When a commit counts as safe. Default [`Synchronous::Full`].
    pub fn synchronous(self, synchronous: Synchronous) -> Self {
        Self {
            synchronous,
            ..self
        }
    }

    /// How long a call waits for the write lock before it fails with [`SqliteError::Locked`]. Default 5 s.
    pub fn patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The greatest size of the file, in pages of 4 KiB; beyond it calls fail with [`SqliteError::Full`]. Default: as much as there is.
    pub fn max_pages(self, pages: u32) -> Self {
        Self {
            max_pages: Some(pages),
            ..self
        }
    }

    /// The clock that the store follows. Default: that of this machine, which all processes on the file share (R66). For tests.
    pub fn clock(self, clock: impl Clock) -> Self {
        Self {
            clock: Arc::new(clock),
            ..self
        }
    }

    /// Opens the file as the next version of the program does, which adds this step to the schema. For tests of R87.
    #[doc(hidden)]
    pub fn next_version(self, sql: &'static str, serves_the_present: bool) -> Self {
        Self {
            program: migrations::Program::next(sql, serves_the_present),
            ..self
        }
    }

    /// Opens the file, creates it where it is missing, and brings its schema up to date.
    ///
    /// # Errors
    /// [`SqliteError`]: the file is no database, cannot be opened or written, is locked for longer than the patience, or was written by
    /// a program too new for this one.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn open(self) -> Result<Sqlite, SqliteError> {
        let given = self.file.to_string_lossy();
        if given.is_empty() || NO_PATHS.iter().any(|word| given.starts_with(word)) {
            let given = given.into_owned();
            return Err(SqliteError::NoFile { given });
        }
        let file = std::path::absolute(&self.file).unwrap_or_else(|_| self.file.clone());
        let mut options = SqliteConnectOptions::new()
            .filename(&file)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(match self.synchronous {
                Synchronous::Full => SqliteSynchronous::Full,
                Synchronous::Normal => SqliteSynchronous::Normal,
            })
            .busy_timeout(self.patience)
            .disable_statement_logging();
        if let Some(pages) = self.max_pages {
            options = options.pragma("max_page_count", pages.to_string());
        }
        let (connection, id) = self.first_connection(&options, &file).await?;
        let pool = SqlitePoolOptions::new()
            .max_connections(MAX_CONNECTIONS)
            .test_before_acquire(false)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_lazy_with(options.clone());
        // The writer asks for the lock itself, so SQLite must not wait for it.
        let writer = Writer::new(
            options.busy_timeout(Duration::ZERO),
            self.patience,
            connection,
        );
        let clock = Arc::clone(&self.clock);
        let inner = Inner::new(file, self, id, clock, writer, pool);
        let version = inner.data_version().await?;
        inner.seen_version.store(version, Ordering::Relaxed);
        Ok(Sqlite { inner })
    }

    /// The first connection, with the schema up to date. Processes that open a new file at once get into each other's way, some of them
    /// without SQLite waiting for the others.
    async fn first_connection(
        &self,
        options: &SqliteConnectOptions,
        file: &Path,
    ) -> Result<(SqliteConnection, String), SqliteError> {
        let clock = SystemClock;
        let began = clock.now();
        loop {
            let waited = match connect(options, file, self.program).await {
                Err(SqliteError::Locked { .. }) => clock.now().since(began),
                done => return done,
            };
            if waited >= self.patience {
                return Err(SqliteError::Locked {
                    file: file.to_owned(),
                    waited,
                });
            }
            clock.sleep(OPENS_AGAIN).await;
        }
    }
}

async fn connect(
    options: &SqliteConnectOptions,
    file: &Path,
    program: migrations::Program,
) -> Result<(SqliteConnection, String), SqliteError> {
    let of = |error| SqliteError::of(file, error);
    let mut connection = options.connect().await.map_err(of)?;
    let id = migrations::migrate(&mut connection, file, program).await?;
    sqlx::query("PRAGMA busy_timeout = 0")
        .execute(&mut connection)
        .await
        .map_err(of)?;
    match write_nothing(&mut connection).await {
        // Whoever holds the lock can write, and so may this process later.
        Err(error) if is_busy(&error) => {}
        done => done.map_err(of)?,
    }
    Ok((connection, id))
}

/// Finds out whether the file can be written, now and not with the first job.
async fn write_nothing(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    sqlx::query("BEGIN IMMEDIATE")
        .execute(&mut *connection)
        .await?;
    sqlx::query("UPDATE warp_store SET id = id")
        .execute(&mut *connection)
        .await?;
    sqlx::query("ROLLBACK").execute(connection).await?;
    Ok(())
}
