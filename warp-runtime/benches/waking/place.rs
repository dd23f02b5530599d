//! The stores that are compared.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions};
use tempfile::TempDir;
use warp_runtime::prelude::*;

use crate::Outcome;

/// How often a SQLite file is looked at (R44).
const SHORT: Duration = Duration::from_millis(50);

/// A store, and how its processes learn of each other's changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
pub(crate) enum Way {
    /// PostgreSQL as it is.
    Notices,
    /// PostgreSQL without notices, with the regular look alone.
    Look,
    /// The same, looking as often as at a file.
    OftenLook,
    /// A SQLite file.
    File,
}

/// A fresh schema or file.
pub(crate) struct Place {
    way: Way,
    schema: String,
    folder: TempDir,
}

impl Way {
    pub(crate) const ALL: [Self; 4] = [Self::Notices, Self::Look, Self::OftenLook, Self::File];

    /// How long it may take until a change is seen that nobody told of.
    pub(crate) fn period(self) -> Duration {
        match self {
            Self::Look => Duration::from_millis(800),
            Self::Notices | Self::OftenLook | Self::File => SHORT,
        }
    }

    /// Opens the store of this name.
    pub(crate) async fn open(self, name: &str) -> Outcome<Storage> {
        if self == Self::File {
            return Ok(Sqlite::open(name).await?.into());
        }
        let options = Postgres::options(&url()).schema(name);
        let options = match self {
            Self::OftenLook => options.notifications(false).looks_every(SHORT),
            Self::Look => options.notifications(false),
            Self::Notices | Self::File => options,
        };
        Ok(options.connect().await?.into())
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Notices => "PostgreSQL with notices",
            Self::Look => "PostgreSQL, a look every 800 ms alone",
            Self::OftenLook => "PostgreSQL, a look every 50 ms alone",
            Self::File => "SQLite file, a look every 50 ms",
        })
    }
}

impl Place {
    pub(crate) fn new(way: Way) -> Outcome<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Ok(Self {
            way,
            schema: format!("warp_waking_{}_{number}", std::process::id()),
            folder: tempfile::tempdir()?,
        })
    }

    /// By which [`Way::open`] finds it.
    pub(crate) fn name(&self) -> String {
        match self.way {
            Way::File => self.folder.path().join("jobs.db").display().to_string(),
            Way::Notices | Way::Look | Way::OftenLook => self.schema.clone(),
        }
    }

    pub(crate) async fn remove(self) -> Outcome {
        if self.way != Way::File {
            let options: PgConnectOptions = url().parse()?;
            let mut hand = options.disable_statement_logging().connect().await?;
            let drop = format!("DROP SCHEMA {} CASCADE", self.schema);
            sqlx::raw_sql(AssertSqlSafe(drop))
                .execute(&mut hand)
                .await?;
        }
        Ok(())
    }
}

fn url() -> String {
    std::env::var("WARP_TEST_POSTGRES_URL")
        .unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432/postgres".to_owned())
}
