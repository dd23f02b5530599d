//! A fresh file or schema for each run, and what is counted there.

use std::ops::Sub;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, SqliteConnection};
use tempfile::TempDir;
use warp_runtime::prelude::*;
use warp_runtime::storage::clock::{Clock, SystemClock};

use crate::{Kind, Outcome};

/// A fresh file or schema.
pub(crate) enum Place {
    File(TempDir),
    Schema(String),
}

/// A store in it.
pub(crate) enum Opened {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

/// What something has cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub(crate) statements: u64,
    pub(crate) transactions: u64,
    pub(crate) turns: u64,
    pub(crate) rows: u64,
}

impl Sub for Cost {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            statements: self.statements - before.statements,
            transactions: self.transactions - before.transactions,
            turns: self.turns - before.turns,
            rows: self.rows - before.rows,
        }
    }
}

impl Place {
    pub(crate) async fn new(kind: Kind) -> Outcome<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let place = match kind {
            Kind::Sqlite => Self::File(tempfile::tempdir()?),
            Kind::Postgres => {
                let number = NUMBER.fetch_add(1, Ordering::Relaxed);
                Self::Schema(format!("warp_bench_{}_{number}", std::process::id()))
            }
        };
        place.open().await?.close().await?;
        place.count_rows().await?;
        Ok(place)
    }

    pub(crate) async fn open(&self) -> Outcome<Opened> {
        Ok(match self {
            Self::File(folder) => {
                Opened::Sqlite(Sqlite::open(folder.path().join("jobs.db")).await?)
            }
            Self::Schema(schema) => {
                let options = Postgres::options(&url()).schema(schema);
                Opened::Postgres(options.connect().await?)
            }
        })
    }

    /// Has the rows counted. A server does that anyway; in a file it takes triggers, which make its jobs slower.
    async fn count_rows(&self) -> Outcome {
        let Self::File(folder) = self else {
            return Ok(());
        };
        let mut hand = hand_on_file(folder).await?;
        let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'warp\\_%' ESCAPE '\\'";
        let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&mut hand).await?;
        let mut triggers = vec![
            "CREATE TABLE rows_written (n INTEGER); INSERT INTO rows_written VALUES (0);"
                .to_owned(),
        ];
        for table in tables {
            triggers.extend(["INSERT", "UPDATE", "DELETE"].map(|what| {
                format!(
                    "CREATE TRIGGER count_{table}_{what} AFTER {what} ON {table}
                     BEGIN UPDATE rows_written SET n = n + 1; END;"
                )
            }));
        }
        let triggers = triggers.concat();
        sqlx::raw_sql(AssertSqlSafe(triggers))
            .execute(&mut hand)
            .await?;
        Ok(hand.close().await?)
    }

    /// How many rows were written so far. All stores here must be closed: only then a server's processes tell what they did.
    pub(crate) async fn rows_written(&self) -> Outcome<u64> {
        match self {
            Self::File(folder) => {
                let mut hand = hand_on_file(folder).await?;
                let rows: i64 = sqlx::query_scalar("SELECT n FROM rows_written")
                    .fetch_one(&mut hand)
                    .await?;
                hand.close().await?;
                Ok(rows.unsigned_abs())
            }
            Self::Schema(schema) => {
                let mut hand = hand_on_server().await?;
                let mut before = None;
                loop {
                    SystemClock.sleep(Duration::from_millis(300)).await;
                    let rows: i64 = sqlx::query_scalar(
                        "SELECT sum(n_tup_ins + n_tup_upd + n_tup_del)::bigint FROM pg_stat_user_tables WHERE schemaname = $1",
                    )
                    .bind(schema)
                    .fetch_one(&mut hand)
                    .await?;
                    if before.replace(rows) == Some(rows) {
                        return Ok(rows.unsigned_abs());
                    }
                }
            }
        }
    }

    pub(crate) async fn remove(self) -> Outcome {
        if let Self::Schema(schema) = self {
            let drop = format!("DROP SCHEMA {schema} CASCADE");
            let mut hand = hand_on_server().await?;
            sqlx::raw_sql(AssertSqlSafe(drop))
                .execute(&mut hand)
                .await?;
        }
        Ok(())
    }
}

impl Opened {
    pub(crate) fn storage(&self) -> Storage {
        match self {
            Self::Sqlite(store) => store.clone().into(),
            Self::Postgres(store) => store.clone().into(),
        }
    }

    /// What the store has cost so far; it does not count rows.
    pub(crate) fn cost(&self) -> Cost {
        let (statements, transactions, turns) = match self {
            Self::Sqlite(store) => {
                let all = store.statistics();
                (all.statements, all.transactions, all.turns)
            }
            Self::Postgres(store) => {
                let all = store.statistics();
                (all.statements, all.transactions, all.turns)
            }
        };
        Cost {
            statements,
            transactions,
            turns,
            rows: 0,
        }
    }

    pub(crate) async fn close(self) -> Outcome {
        match self {
            Self::Sqlite(store) => store.close().await?,
            Self::Postgres(store) => store.close().await,
        }
        Ok(())
    }
}

fn url() -> String {
    std::env::var("WARP_TEST_POSTGRES_URL")
        .unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432/postgres".to_owned())
}

async fn hand_on_file(folder: &TempDir) -> Outcome<SqliteConnection> {
    let options = SqliteConnectOptions::new().filename(folder.path().join("jobs.db"));
    Ok(options.connect().await?)
}

async fn hand_on_server() -> Outcome<PgConnection> {
    let options: PgConnectOptions = url().parse()?;
    Ok(options.disable_statement_logging().connect().await?)
}
