//! The schema, and programs of several versions on one schema (R87).

use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Connection, PgConnection, Row};

use super::error::{Place, PostgresError};
use super::statements::in_schema;

/// One step of the schema.
#[derive(Clone, Copy, Debug)]
struct Migration {
    sql: &'static str,
    /// The oldest program that still works once this is applied, by the number of its own last migration.
    serves_from: i32,
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
        sql: include_str!("migrations/0003_turn_without_keys.sql"),
        serves_from: 1,
    },
    Migration {
        sql: include_str!("migrations/0004_key_secret.sql"),
        serves_from: 1,
    },
];

/// The number that stands before the schema's own in the lock that migrating programs take: "warp".
const LOCK: i32 = 0x7761_7270;

/// How often a program tries to migrate whose transaction is given up for another's.
const TRIES: usize = 10;

/// What a program knows of the schema: all steps, and in tests one that only a later version has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Program {
    next: Option<Migration>,
}

impl Program {
    /// The next version, whose schema serves the present one or does not.
    pub(super) fn next(sql: &'static str, serves_the_present: bool) -> Self {
        let present = Self::default().known();
        let serves_from = present + i32::from(!serves_the_present);
        let next = Some(Migration { sql, serves_from });
        Self { next }
    }

    fn steps(self) -> impl Iterator<Item = Migration> {
        MIGRATIONS.iter().copied().chain(self.next)
    }

    fn known(self) -> i32 {
        i32::try_from(self.steps().count()).unwrap_or(i32::MAX)
    }
}

/// What a schema says of itself.
struct Found {
    id: String,
    schema: i32,
    serves_from: i32,
}

/// Brings a schema up to what this program knows. Safe when several processes start at once: they take a lock one after the other, and it
/// ends with their transactions; and beside programs that work, whose transactions may lock the same tables in another order: then it is tried
/// again. A schema that is newer is left as it is.
pub(super) async fn migrate(
    connection: &mut PgConnection,
    schema: &str,
    place: &Place,
    program: Program,
) -> Result<(), PostgresError> {
    let mut tries = 1..;
    loop {
        match try_to_migrate(connection, schema, place, program).await {
            Err(PostgresError::Busy { .. }) if tries.next() < Some(TRIES) => {}
            done => return done,
        }
    }
}

async fn try_to_migrate(
    connection: &mut PgConnection,
    schema: &str,
    place: &Place,
    program: Program,
) -> Result<(), PostgresError> {
    let of = |error| PostgresError::of(place, error);
    let applied = version(connection, schema).await.map_err(of)?;
    if applied >= program.known() {
        return Ok(());
    }
    let begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
    let mut transaction = connection.begin_with(begin).await.map_err(of)?;
    apply(&mut transaction, schema, program).await.map_err(of)?;
    transaction.commit().await.map_err(of)
}

/// The id of a schema, if it serves this program.
pub(super) async fn id(
    connection: &mut PgConnection,
    schema: &str,
    place: &Place,
    program: Program,
) -> Result<String, PostgresError> {
    let place = place.clone();
    let known = program.known();
    match found(connection, schema).await {
        Err(error) => Err(PostgresError::of(&place, error)),
        Ok(Some(found)) if found.serves_from > known => Err(PostgresError::NewerSchema {
            place,
            found: found.schema,
            serves_from: found.serves_from,
            known,
        }),
        Ok(Some(found)) if found.schema >= known => Ok(found.id),
        Ok(_) => Err(PostgresError::NotMigrated { place }),
    }
}

/// Applies what is missing, seen under the lock.
async fn apply(
    connection: &mut PgConnection,
    schema: &str,
    program: Program,
) -> Result<(), sqlx::Error> {
    sqlx::query("SELECT pg_advisory_xact_lock($1, hashtext($2))")
        .bind(LOCK)
        .bind(schema.to_owned())
        .execute(&mut *connection)
        .await?;
    // An administrator may have made it for a user who must not.
    if !is_there(
        connection,
        "SELECT to_regnamespace($1) IS NOT NULL",
        schema.to_owned(),
    )
    .await?
    {
        let create = format!("CREATE SCHEMA {schema}");
        sqlx::raw_sql(AssertSqlSafe(create))
            .execute(&mut *connection)
            .await?;
    }
    let applied = version(connection, schema).await?;
    let missing = program
        .steps()
        .zip(1..)
        .filter(|&(_, number)| number > applied);
    for (migration, number) in missing {
        let text = in_schema(migration.sql, schema);
        sqlx::raw_sql(AssertSqlSafe(text))
            .execute(&mut *connection)
            .await?;
        let note = "INSERT INTO warp.store (only_row, id, schema, serves_from, latest) \
                    VALUES (true, gen_random_uuid()::text, $1, $2, 0) \
                    ON CONFLICT (only_row) DO UPDATE SET schema = excluded.schema, serves_from = excluded.serves_from";
        sqlx::query(AssertSqlSafe(in_schema(note, schema)))
            .bind(number)
            .bind(migration.serves_from)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

async fn version(connection: &mut PgConnection, schema: &str) -> Result<i32, sqlx::Error> {
    let found = found(connection, schema).await?;
    Ok(found.map_or(0, |found| found.schema))
}

async fn found(connection: &mut PgConnection, schema: &str) -> Result<Option<Found>, sqlx::Error> {
    let table = in_schema("warp.store", schema);
    if !is_there(connection, "SELECT to_regclass($1) IS NOT NULL", table).await? {
        return Ok(None);
    }
    let text = in_schema("SELECT id, schema, serves_from FROM warp.store", schema);
    let row = sqlx::query(AssertSqlSafe(text))
        .fetch_optional(connection)
        .await?;
    let found = |row: PgRow| {
        Ok(Found {
            id: row.try_get(0)?,
            schema: row.try_get(1)?,
            serves_from: row.try_get(2)?,
        })
    };
    row.map(found).transpose()
}

async fn is_there(
    connection: &mut PgConnection,
    question: &'static str,
    name: String,
) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(question)
        .bind(name)
        .fetch_one(connection)
        .await
}
