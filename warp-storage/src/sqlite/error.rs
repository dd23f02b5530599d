//! What a file can fail with. Every message names the file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use crate::error::StoreError;

/// What a SQLite file can fail with.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SqliteError {
    /// The file is something else.
    #[error("{} is not a SQLite database; open another file, or move this one away", .file.display())]
    NotADatabase {
        /// The file.
        file: PathBuf,
    },
    /// What was given is no path: nothing, SQLite's word `:memory:`, or an address like `sqlite:jobs.db`.
    #[error(
        "`{given}` is no path to a file; jobs that may be lost with their process belong into `Memory`, which keeps the same rules"
    )]
    NoFile {
        /// What was given.
        given: String,
    },
    /// The file cannot be opened, or created.
    #[error("{} cannot be opened: is it a file, does its folder exist, and may this process write there?", .file.display())]
    CannotOpen {
        /// The file.
        file: PathBuf,
        /// What SQLite says.
        source: sqlx::Error,
    },
    /// The file, or its folder, must not be written. Beside the file SQLite keeps a `-wal` and a `-shm` file.
    #[error("{} cannot be written: the file, its folder, or the `-wal` or `-shm` file beside it is read-only for this process", .file.display())]
    ReadOnly {
        /// The file.
        file: PathBuf,
    },
    /// There is no space left, or the file has reached its greatest size. Nothing was changed; it may be tried again.
    #[error("{} is full: the disk has no space left, or the file has reached its greatest size", .file.display())]
    Full {
        /// The file.
        file: PathBuf,
    },
    /// Somebody else held the write lock all the time. Nothing was changed; it may be tried again.
    #[error("{} is locked: another connection has been writing for {waited:?}", .file.display())]
    Locked {
        /// The file.
        file: PathBuf,
        /// How long the lock was waited for.
        waited: Duration,
    },
    /// A caller's transaction had read before somebody else wrote, and can no longer write.
    #[error(
        "a transaction on {} can no longer write, since it read before somebody else wrote: begin it with `Sqlite::begin`, or `BEGIN IMMEDIATE`, \
         and try again",
        .file.display()
    )]
    StaleTransaction {
        /// The file.
        file: PathBuf,
    },
    /// A caller's transaction is on another database. Nothing was enqueued.
    #[error("the transaction is not on {}, in which the jobs are to be kept; nothing was enqueued", .file.display())]
    OtherDatabase {
        /// The file that the jobs are kept in.
        file: PathBuf,
    },
    /// The file was written by a program too new for this one (R87).
    #[error(
        "{} has schema {found}, which serves programs from schema {serves_from} on; this program knows {known}: update it",
        .file.display()
    )]
    NewerSchema {
        /// The file.
        file: PathBuf,
        /// The schema of the file.
        found: i64,
        /// The oldest program that this schema serves, by the schema it knows.
        serves_from: i64,
        /// The schema that this program knows.
        known: i64,
    },
    /// Something in the file cannot be read. Nothing was changed.
    #[error("{} is damaged: {what}; mend the row with `sqlite3`, or restore a copy of the file", .file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What cannot be read.
        what: String,
    },
    /// A value is too large, or a constraint or a trigger refuses it. Nothing was changed.
    #[error("{} cannot keep what it was given: {source}", .file.display())]
    Unstorable {
        /// The file.
        file: PathBuf,
        /// What SQLite says.
        source: sqlx::Error,
    },
    /// The store was closed in this process.
    #[error("{} was closed by this process; open it again", .file.display())]
    Closed {
        /// The file.
        file: PathBuf,
    },
    /// SQLite, or the system, failed in another way. Nothing was changed; it may be tried again.
    #[error("{} could not be used: {source}", .file.display())]
    Failed {
        /// The file.
        file: PathBuf,
        /// What SQLite says.
        source: sqlx::Error,
    },
}

/// SQLite's result codes, without what extends them.
mod code {
    pub(super) const BUSY: i32 = 5;
    pub(super) const BUSY_SNAPSHOT: i32 = 517;
    pub(super) const LOCKED: i32 = 6;
    pub(super) const READONLY: i32 = 8;
    pub(super) const CORRUPT: i32 = 11;
    pub(super) const FULL: i32 = 13;
    pub(super) const IOERR_SHMSIZE: i32 = 4874;
    pub(super) const CANTOPEN: i32 = 14;
    pub(super) const TOOBIG: i32 = 18;
    pub(super) const CONSTRAINT: i32 = 19;
    pub(super) const MISMATCH: i32 = 20;
    pub(super) const NOTADB: i32 = 26;
}

impl SqliteError {
    /// What an error of the driver means for this file.
    pub(super) fn of(file: &Path, error: sqlx::Error) -> Self {
        let file = file.to_owned();
        let Some(code) = result_code(&error) else {
            return match error {
                sqlx::Error::ColumnDecode { source, .. } | sqlx::Error::Decode(source) => {
                    Self::Damaged {
                        file,
                        what: source.to_string(),
                    }
                }
                sqlx::Error::PoolClosed => Self::Closed { file },
                source => Self::Failed { file, source },
            };
        };
        match (code, code & 0xff) {
            // Where the disk is full when the file is opened.
            (code::IOERR_SHMSIZE, _) | (_, code::FULL) => Self::Full { file },
            (code::BUSY_SNAPSHOT, _) => Self::StaleTransaction { file },
            (_, code::BUSY | code::LOCKED) => Self::Locked {
                file,
                waited: Duration::ZERO,
            },
            (_, code::READONLY) => Self::ReadOnly { file },
            (_, code::CORRUPT) => Self::Damaged {
                file,
                what: error.to_string(),
            },
            (_, code::CANTOPEN) => Self::CannotOpen {
                file,
                source: error,
            },
            (_, code::TOOBIG | code::CONSTRAINT | code::MISMATCH) => Self::Unstorable {
                file,
                source: error,
            },
            (_, code::NOTADB) => Self::NotADatabase { file },
            _ => Self::Failed {
                file,
                source: error,
            },
        }
    }

    /// Whether the same call may succeed later (R85).
    pub const fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::Full { .. } | Self::Locked { .. } | Self::Failed { .. }
        )
    }
}

/// Whether somebody else holds the lock that a statement needs.
pub(super) fn is_busy(error: &sqlx::Error) -> bool {
    result_code(error).is_some_and(|code| {
        code != code::BUSY_SNAPSHOT && matches!(code & 0xff, code::BUSY | code::LOCKED)
    })
}

fn result_code(error: &sqlx::Error) -> Option<i32> {
    error.as_database_error()?.code()?.parse().ok()
}

impl From<SqliteError> for StoreError {
    fn from(error: SqliteError) -> Self {
        let is_retryable = error.is_retryable();
        let is_refusal = matches!(error, SqliteError::Unstorable { .. });
        let source = Box::new(error);
        match (is_retryable, is_refusal) {
            (true, _) => Self::Unavailable { source },
            (false, true) => Self::Refused { source },
            (false, false) => Self::Unusable { source },
        }
    }
}
