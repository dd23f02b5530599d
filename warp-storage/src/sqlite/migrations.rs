//! The schema, and programs of several versions on one file (R87).

use std::path::Path;

use sqlx::{Connection, Row, SqliteConnection};

use super::error::SqliteError;
use super::statements::FILE_ID;

/// One step of the schema.
#[derive(Clone, Copy, Debug)]
struct Migration {
    sql: &'static str,
    /// The oldest program that still works once this is applied, by the number of its own last migration.
    serves_from: i64,
}

/// All steps; the first has the number 1.
const MIGRATIONS: &[Migration] = &[
    Migration {
        sql: include_str!("migrations/0001_tables.sql"),
        serves_from: 1,
    },
    Migration {
        sql: include_str!("migrations/0002_cancelled.sql"),
        serves_from: 1,
    },
    Migration {
        sql: include_str!("migrations/0003_key_secret.sql"),
        serves_from: 1,
    },
];

/// What a program knows of the schema: all steps, and in tests one that only a later version has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Program {
    next: Option<Migration>,
}

impl Program {
    /// The next version, whose schema serves the present one or does not.
    pub(super) fn next(sql: &'static str, serves_the_present: bool) -> Self {
        let present = Self::default().known();
        let serves_from = present + i64::from(!serves_the_present);
        let next = Some(Migration { sql, serves_from });
        Self { next }
    }

    fn steps(self) -> impl Iterator<Item = Migration> {
        MIGRATIONS.iter().copied().chain(self.next)
    }

    fn known(self) -> i64 {
        i64::try_from(self.steps().count()).unwrap_or(i64::MAX)
    }
}

/// What a file says of its schema.
struct Found {
    schema: i64,
    serves_from: i64,
}

/// Brings the schema up to what this program knows, and returns the id of the file. Safe when several processes start at once: whoever
/// gets the write lock first does it.
///
/// A file with a newer schema is served as it is, as long as that schema serves this program.
pub(super) async fn migrate(
    connection: &mut SqliteConnection,
    file: &Path,
    program: Program,
) -> Result<String, SqliteError> {
    let of = |error| SqliteError::of(file, error);
    let known = program.known();
    if found(connection)
        .await
        .map_err(of)?
        .is_none_or(|found| found.schema < known)
    {
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.map_err(of)?;
        apply(&mut transaction, program).await.map_err(of)?;
        transaction.commit().await.map_err(of)?;
    }
    let found = found(connection).await.map_err(of)?;
    match found {
        Some(found) if found.serves_from > known => Err(SqliteError::NewerSchema {
            file: file.to_owned(),
            found: found.schema,
            serves_from: found.serves_from,
            known,
        }),
        _ => sqlx::query_scalar(FILE_ID)
            .fetch_one(connection)
            .await
            .map_err(of),
    }
}

async fn found(connection: &mut SqliteConnection) -> Result<Option<Found>, sqlx::Error> {
    let is_there = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'warp_store'";
    if sqlx::query(is_there)
        .fetch_optional(&mut *connection)
        .await?
        .is_none()
    {
        return Ok(None);
    }
    let row = sqlx::query("SELECT schema, serves_from FROM warp_store")
        .fetch_optional(connection)
        .await?;
    row.map(|row| {
        Ok(Found {
            schema: row.try_get(0)?,
            serves_from: row.try_get(1)?,
        })
    })
    .transpose()
}

/// Applies what is missing, seen under the write lock.
async fn apply(connection: &mut SqliteConnection, program: Program) -> Result<(), sqlx::Error> {
    let schema = found(connection).await?.map_or(0, |found| found.schema);
    let missing = program
        .steps()
        .zip(1_i64..)
        .filter(|&(_, number)| number > schema);
    for (migration, number) in missing {
        sqlx::raw_sql(migration.sql)
            .execute(&mut *connection)
            .await?;
        let note = "INSERT INTO warp_store (only_row, id, schema, serves_from, latest) \
                    VALUES (1, lower(hex(randomblob(16))), ?1, ?2, 0) \
                    ON CONFLICT DO UPDATE SET schema = excluded.schema, serves_from = excluded.serves_from";
        sqlx::query(note)
            .bind(number)
            .bind(migration.serves_from)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}
