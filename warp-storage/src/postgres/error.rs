//! What a server can fail with. Every message names the server and the schema.

use std::sync::Arc;

use thiserror::Error;

use crate::error::StoreError;

/// Where a store is, as messages name it: without a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place(Arc<str>);

impl Place {
    pub(super) fn new(schema: &str, server: &str) -> Self {
        Self(format!("schema `{schema}` on {server}").into())
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a store on a PostgreSQL server can fail with.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PostgresError {
    /// The URL cannot be read. It is not shown, since it may hold a password.
    #[error(
        "the URL of the database cannot be read: {source}; it has the form `postgres://user:password@host:5432/database`"
    )]
    Url {
        /// What the driver says.
        source: sqlx::Error,
    },
    /// The name of the schema cannot be used.
    #[error(
        "`{schema}` is no name for a schema: it must begin with a small letter or `_`, go on with those and digits, and have at most 63 of them"
    )]
    SchemaName {
        /// The name.
        schema: String,
    },
    /// The server could not be reached, or ended the connection. It may be tried again. Whether a commit that was under way took effect is
    /// not known.
    #[error("{place} cannot be reached: {source}")]
    Unreachable {
        /// Where.
        place: Place,
        /// What the driver says.
        source: sqlx::Error,
    },
    /// The server does not let this user in, or has no such database.
    #[error(
        "{place} cannot be opened: {source}; check the user, the password and the database of the URL"
    )]
    NoEntry {
        /// Where.
        place: Place,
        /// What the server says.
        source: sqlx::Error,
    },
    /// The user must not do what a store does.
    #[error(
        "{place} cannot be used: {source}; grant the user what is missing, or let its owner call `migrate`"
    )]
    Forbidden {
        /// Where.
        place: Place,
        /// What the server says.
        source: sqlx::Error,
    },
    /// The tables are not there.
    #[error(
        "{place} has no tables of Warp: call `Postgres::migrate` once, or open it with `PostgresOptions::connect`"
    )]
    NotMigrated {
        /// Where.
        place: Place,
    },
    /// The schema was written by a program too new for this one (R87).
    #[error(
        "{place} has version {found}, which serves programs from version {serves_from} on; this program knows {known}: update it"
    )]
    NewerSchema {
        /// Where.
        place: Place,
        /// The version of the schema.
        found: i32,
        /// The oldest program that it serves, by the version it knows.
        serves_from: i32,
        /// The version that this program knows.
        known: i32,
    },
    /// All connections were in use for too long: those of this store, or those of the server. It may be tried again.
    #[error(
        "{place} has no connection to spare: {source}; raise `max_connections` of the store or of the server, or open fewer stores"
    )]
    NoConnection {
        /// Where.
        place: Place,
        /// What the driver says.
        source: sqlx::Error,
    },
    /// Others were changing the same rows. Nothing was changed; it may be tried again.
    #[error("{place} is busy: {source}")]
    Busy {
        /// Where.
        place: Place,
        /// What the server says.
        source: sqlx::Error,
    },
    /// Rows that a call needs were forgotten, or broken, again and again. Nothing is lost; it may be tried again.
    #[error("{place} does not come to rest: what a call reads is changed by others each time")]
    Restless {
        /// Where.
        place: Place,
    },
    /// The server only answers queries: it is a standby, or was told to be read-only. It may be tried again, since that can pass.
    #[error("{place} is read-only at present: connect to the primary server")]
    ReadOnly {
        /// Where.
        place: Place,
    },
    /// The server has no space or memory left. Nothing was changed; it may be tried again.
    #[error("{place} is full: {source}")]
    Full {
        /// Where.
        place: Place,
        /// What the server says.
        source: sqlx::Error,
    },
    /// A caller's transaction is on another database, or the schema in it is another one. Nothing was enqueued.
    #[error(
        "the transaction is not on {place}, in which the jobs are to be kept; nothing was enqueued"
    )]
    OtherDatabase {
        /// Where the jobs are kept.
        place: Place,
    },
    /// A caller's transaction has failed before. Nothing was enqueued.
    #[error(
        "a transaction on {place} has failed before and cannot go on: roll it back, and begin another one"
    )]
    FailedTransaction {
        /// Where.
        place: Place,
    },
    /// Something in the tables cannot be read. Nothing was changed.
    #[error("{place} is damaged: {what}; mend the row with `psql`, or restore a copy")]
    Damaged {
        /// Where.
        place: Place,
        /// What cannot be read.
        what: String,
    },
    /// A value is none that PostgreSQL keeps, such as a text with a zero character in it, or a constraint or a trigger refuses it. Nothing
    /// was changed.
    #[error("{place} cannot keep what it was given: {source}")]
    Unstorable {
        /// Where.
        place: Place,
        /// What the server says.
        source: sqlx::Error,
    },
    /// The server, or the driver, failed in another way. Nothing was changed; it may be tried again.
    #[error("{place} could not be used: {source}")]
    Failed {
        /// Where.
        place: Place,
        /// What the server says.
        source: sqlx::Error,
    },
}

/// A lock was not had in time.
const LOCK_NOT_AVAILABLE: &str = "55P03";
/// There is no such table; there is no such schema.
const UNDEFINED: [&str; 2] = ["42P01", "3F000"];

impl PostgresError {
    /// What an error of the driver means for this store.
    pub(super) fn of(place: &Place, source: sqlx::Error) -> Self {
        let place = place.clone();
        match &source {
            sqlx::Error::Database(_) => Self::of_server(place, source),
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::BeginFailed
            | sqlx::Error::WorkerCrashed => Self::Unreachable { place, source },
            sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed => {
                Self::NoConnection { place, source }
            }
            sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => Self::Damaged {
                place,
                what: source.to_string(),
            },
            _ => Self::Failed { place, source },
        }
    }

    fn of_server(place: Place, source: sqlx::Error) -> Self {
        let code = code(&source).unwrap_or_default();
        match (&code[..code.len().min(2)], code.as_str()) {
            (_, "42501") => Self::Forbidden { place, source },
            (_, "25006") => Self::ReadOnly { place },
            (_, "25P02") => Self::FailedTransaction { place },
            (_, "53300") => Self::NoConnection { place, source },
            (_, code) if UNDEFINED.contains(&code) => Self::NotMigrated { place },
            ("28", _) | (_, "3D000") => Self::NoEntry { place, source },
            // The server is stopping or starting, or ended this session.
            ("57" | "08", _) | (_, "25P03") => Self::Unreachable { place, source },
            ("40", _) | (_, LOCK_NOT_AVAILABLE) => Self::Busy { place, source },
            ("22" | "23" | "54" | "P0", _) => Self::Unstorable { place, source },
            ("53", _) => Self::Full { place, source },
            ("XX", _) => Self::Damaged {
                place,
                what: source.to_string(),
            },
            _ => Self::Failed { place, source },
        }
    }

    /// Whether the same call may succeed later (R85).
    pub const fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. }
                | Self::NoConnection { .. }
                | Self::Busy { .. }
                | Self::Restless { .. }
                | Self::ReadOnly { .. }
                | Self::Full { .. }
                | Self::Failed { .. }
        )
    }

    /// Whether a lock was not had within the time that the transaction had set for itself.
    pub(super) fn is_lock_timeout(&self) -> bool {
        matches!(self, Self::Busy { source, .. } if code(source).as_deref() == Some(LOCK_NOT_AVAILABLE))
    }
}

fn code(error: &sqlx::Error) -> Option<String> {
    Some(error.as_database_error()?.code()?.into_owned())
}

impl From<PostgresError> for StoreError {
    fn from(error: PostgresError) -> Self {
        let is_retryable = error.is_retryable();
        let is_refusal = matches!(error, PostgresError::Unstorable { .. });
        let source = Box::new(error);
        match (is_retryable, is_refusal) {
            (true, _) => Self::Unavailable { source },
            (false, true) => Self::Refused { source },
            (false, false) => Self::Unusable { source },
        }
    }
}
