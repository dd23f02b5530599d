//! Where the jobs of a process test are.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, SqliteConnection};
use warp_runtime::{Postgres, Sqlite, SqliteError, Storage};

use super::line::Line;
use super::office::Outcome;
use super::version::Version;

/// How many connections a process opens at most: a server has a hundred by default, for all of them.
pub(super) const MAX_CONNECTIONS: u32 = 4;

/// Where the jobs are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Place {
    /// In a SQLite file.
    File(PathBuf),
    /// In a schema of a PostgreSQL server.
    Server {
        /// Its address.
        url: String,
        /// The schema.
        schema: String,
    },
}

/// A store that is open.
#[derive(Clone, Debug)]
pub enum Opened {
    /// In a SQLite file.
    File(Sqlite),
    /// On a PostgreSQL server.
    Server(Postgres),
}

/// What the store cost a process.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Costs {
    /// Its dispatch turns.
    pub turns: u64,
    /// The statements that it sent.
    pub statements: u64,
    /// The longest wait for the write lock, where there is only one.
    pub longest_lock_wait: Duration,
}

impl Place {
    /// A file in this folder.
    pub fn in_a_file(folder: &Path) -> Self {
        Self::File(folder.join("jobs.db"))
    }

    /// A new schema on the server, if there is one.
    pub async fn on_a_server(test: &str) -> Outcome<Option<Self>> {
        let url = std::env::var("WARP_TEST_POSTGRES_URL")
            .unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432/postgres".to_owned());
        match PgConnection::connect(&url).await {
            Ok(_) => Ok(Some(Self::on(&url))),
            Err(error) => without(test, format!("there is no PostgreSQL server: {error}")),
        }
    }

    /// A new schema on this server.
    pub fn on(url: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self::Server {
            url: url.to_owned(),
            schema: format!("warp_processes_{}_{number}", std::process::id()),
        }
    }

    /// Opens the store as the present version does.
    pub async fn open(&self) -> Outcome<Opened> {
        Version::Present.open(self).await
    }

    /// A line to the server, which can be cut, and the same place at the other end of it.
    pub async fn over_a_line(&self) -> Outcome<(Line, Self)> {
        let Self::Server { url, schema } = self else {
            return Err("no line leads to a file".into());
        };
        let server: PgConnectOptions = url.parse()?;
        let line = Line::to(&server).await?;
        let end = server.host("127.0.0.1").port(line.port);
        let place = Self::Server {
            url: end.to_url_lossy().into(),
            schema: schema.clone(),
        };
        Ok((line, place))
    }

    /// What a statement on the tables answers, in which they have the names that they have in a file.
    pub async fn ask(&self, statement: &str) -> Outcome<i64> {
        Ok(match self {
            Self::File(file) => {
                let options = SqliteConnectOptions::new().filename(file);
                let mut connection = SqliteConnection::connect_with(&options).await?;
                let text = AssertSqlSafe(statement.to_owned());
                let answer = sqlx::query_scalar(text).fetch_one(&mut connection).await?;
                connection.close().await?;
                answer
            }
            Self::Server { url, schema } => {
                let mut connection = PgConnection::connect(url).await?;
                let text = AssertSqlSafe(statement.replace("warp_", &format!("{schema}.")));
                sqlx::query_scalar(text).fetch_one(&mut connection).await?
            }
        })
    }

    /// Whether somebody has the write lock of the file, and keeps it for a second.
    pub async fn is_held_up(&self) -> Outcome<bool> {
        let Self::File(file) = self else {
            return Err("only a file has one lock".into());
        };
        let options = Sqlite::options(file).patience(Duration::from_secs(1));
        let begun = async { options.open().await?.begin().await };
        match begun.await {
            Ok(_) => Ok(false),
            Err(SqliteError::Locked { .. }) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes the schema; a file goes with its folder.
    pub async fn clean_up(&self) -> Outcome {
        if let Self::Server { url, schema } = self {
            let mut connection = PgConnection::connect(url).await?;
            let text = AssertSqlSafe(format!("DROP SCHEMA {schema} CASCADE"));
            sqlx::query(text).execute(&mut connection).await?;
        }
        Ok(())
    }
}

/// A test does without what is not there, and says so; with `WARP_TEST_REQUIRE_SERVICES=1` it fails.
#[expect(clippy::print_stderr, reason = "who runs the tests should know")]
pub(super) fn without<T>(test: &str, what: String) -> Outcome<Option<T>> {
    if std::env::var("WARP_TEST_REQUIRE_SERVICES").is_ok_and(|required| required == "1") {
        return Err(what.into());
    }
    eprintln!("{test}: skipped, since {what}");
    Ok(None)
}

impl Opened {
    /// The store.
    pub fn storage(&self) -> Storage {
        match self {
            Self::File(sqlite) => sqlite.clone().into(),
            Self::Server(postgres) => postgres.clone().into(),
        }
    }

    /// What it cost so far.
    pub fn costs(&self) -> Costs {
        match self {
            Self::File(sqlite) => {
                let statistics = sqlite.statistics();
                Costs {
                    turns: statistics.turns,
                    statements: statistics.statements,
                    longest_lock_wait: statistics.longest_lock_wait,
                }
            }
            Self::Server(postgres) => {
                let statistics = postgres.statistics();
                Costs {
                    turns: statistics.turns,
                    statements: statistics.statements,
                    longest_lock_wait: Duration::ZERO,
                }
            }
        }
    }
}
