//! Programs of several versions, and many at once, on one schema (R87).

use std::error::Error;
use std::time::Duration;

use sqlx::{AssertSqlSafe, Connection};
use warp_policy::precedence::ExplicitPolicies;
use warp_storage::Postgres;
use warp_storage::conformance::{Harness, Scene};
use warp_storage::model::{End, JobState};
use warp_storage::postgres::PostgresError;

use crate::on_server::{OnServer, connection, has_server, schema_name, url};

type Outcome = Result<(), Box<dyn Error>>;

/// What a later program may do to the schema: add to it.
const NEXT_VERSION: &str = "
    ALTER TABLE warp.jobs ADD COLUMN note text NOT NULL DEFAULT '';
    ALTER TABLE warp.lanes ADD COLUMN note text;
    CREATE TABLE warp.notes (job bigint PRIMARY KEY, note text);
    CREATE INDEX jobs_by_note ON warp.jobs (note);
    UPDATE warp.store SET schema = schema + 1;";

/// A program that migrates may meet a transaction that locks the same tables in another order. One of the two is given up by the server; the program
/// begins all the same.
#[tokio::test]
async fn a_migration_that_is_given_up_for_another_transaction_is_tried_again() -> Outcome {
    const SCHEMA: &str = "SELECT schema::bigint FROM warp.store";
    const STEP: &str =
        "ALTER TABLE warp.jobs ADD COLUMN note text; ALTER TABLE warp.lanes ADD COLUMN note text;";
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let known = harness.ask(SCHEMA).await;
    let mut hand = connection().await;
    let mut works = hand.begin().await?;
    // Later than the other, so that the other finds out that they wait for each other.
    let begins = "SET LOCAL deadlock_timeout = '1min'; SELECT 1 FROM warp.lanes";
    sqlx::raw_sql(harness.here(begins))
        .execute(&mut *works)
        .await?;
    let pid: i32 = sqlx::query_scalar("SELECT pg_backend_pid()")
        .fetch_one(&mut *works)
        .await?;
    let newer = Postgres::options(&url()).schema(&harness.schema);
    let newer = newer.max_connections(1).next_version(STEP, true).connect();
    let goes_on = async {
        let waits = format!(
            "SELECT count(*) FROM pg_stat_activity WHERE {pid} = ANY (pg_blocking_pids(pid))"
        );
        while harness.ask(&waits).await == 0 {
            tokio::task::yield_now().await;
        }
        sqlx::raw_sql(harness.here("SELECT 1 FROM warp.jobs"))
            .execute(&mut *works)
            .await?;
        works.commit().await
    };
    let (newer, gone_on) = tokio::join!(newer, goes_on);
    gone_on?;
    newer?.close().await;
    assert_eq!(harness.ask(SCHEMA).await, known + 1);
    Ok(())
}

/// Ten workers start at the same moment on a database that has nothing yet.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_that_start_at_once_make_one_schema() -> Outcome {
    if !has_server().await {
        return Ok(());
    }
    for is_there in [false, true] {
        let schema = schema_name();
        let mut by_hand = connection().await;
        if is_there {
            let create = format!("CREATE SCHEMA {schema}");
            sqlx::raw_sql(AssertSqlSafe(create))
                .execute(&mut by_hand)
                .await?;
        }
        let mut starting = tokio::task::JoinSet::new();
        for _ in 0..10 {
            let options = Postgres::options(&url()).schema(&schema).max_connections(1);
            starting.spawn(options.connect());
        }
        let mut started = Vec::new();
        while let Some(store) = starting.join_next().await {
            started.push(store??);
        }
        assert_eq!(started.len(), 10);
        let stores = format!("SELECT count(*) FROM {schema}.store");
        let stores: i64 = sqlx::query_scalar(AssertSqlSafe(stores))
            .fetch_one(&mut by_hand)
            .await?;
        assert_eq!(stores, 1);
        for store in started {
            store.close().await;
        }
        let drop = format!("DROP SCHEMA {schema} CASCADE");
        sqlx::raw_sql(AssertSqlSafe(drop))
            .execute(&mut by_hand)
            .await?;
    }
    Ok(())
}

/// Without tables a store says what to do, and makes none that it was not asked to make.
#[tokio::test]
async fn a_schema_without_tables_is_told_apart() -> Outcome {
    if !has_server().await {
        return Ok(());
    }
    let schema = schema_name();
    let options = Postgres::options(&url()).schema(&schema);
    let error = options.open().await.expect_err("nothing is there");
    assert!(
        matches!(error, PostgresError::NotMigrated { .. }),
        "{error:?}"
    );
    let text = error.to_string();
    assert!(text.contains(&schema) && text.contains("migrate"), "{text}");
    Ok(())
}

/// A schema that serves only later programs is not touched.
#[tokio::test]
async fn a_schema_of_a_program_too_new_is_refused() -> Outcome {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    sqlx::raw_sql(harness.here("UPDATE warp.store SET schema = 9, serves_from = 7"))
        .execute(&mut *harness.by_hand.lock().await)
        .await?;
    let options = Postgres::options(&url()).schema(&harness.schema);
    let error = options.connect().await.expect_err("it is too new");
    assert!(
        matches!(
            error,
            PostgresError::NewerSchema {
                found: 9,
                serves_from: 7,
                ..
            }
        ),
        "{error:?}"
    );
    let text = error.to_string();
    assert!(
        text.contains(&harness.schema) && text.contains("update"),
        "{text}"
    );
    Ok(())
}

/// The next version migrates the schema while this program works on it, and this one, and others that start later, work on.
#[tokio::test]
async fn this_program_works_on_beside_the_next_version() -> Outcome {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let scene = Scene::new(&harness);
    let mut worker = scene.worker(&["a"]).await?;
    let first = scene.enqueue("a", ExplicitPolicies::default()).await?;
    assert_eq!(worker.start(&scene).await?, [first]);
    sqlx::raw_sql(harness.here(NEXT_VERSION))
        .execute(&mut *harness.by_hand.lock().await)
        .await?;
    let second = scene.enqueue("a", ExplicitPolicies::default()).await?;
    assert_eq!(worker.end(&scene, first, End::Succeeded).await?, [second]);
    assert_eq!(scene.state(first).await?, JobState::Succeeded);
    let later = Postgres::options(&url()).schema(&harness.schema);
    later.max_connections(1).connect().await?.close().await;
    harness.audit().await
}

/// A URL or a schema that cannot be used is refused before anything is sent, and no password is shown.
#[tokio::test]
async fn names_that_cannot_be_used_are_refused() {
    for schema in ["", "Warp", "warp jobs", "1st", "warp;drop", &"w".repeat(64)] {
        let options = Postgres::options("postgres://localhost/x").schema(schema);
        let error = options.connect().await.expect_err("no name");
        assert!(
            matches!(error, PostgresError::SchemaName { .. }),
            "{error:?}"
        );
    }
    let error = Postgres::connect("mysql//root:secret@").await;
    let error = error.expect_err("no URL");
    assert!(matches!(error, PostgresError::Url { .. }), "{error:?}");
    assert!(!error.to_string().contains("secret"), "{error}");
}

/// A server that is not there is a reason to try again, and is named.
#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let options = Postgres::options("postgres://app:secret@127.0.0.1:9/app");
    assert!(!format!("{options:?}").contains("secret"), "{options:?}");
    let error = options.patience(Duration::from_millis(100)).connect().await;
    let error = error.expect_err("nobody listens there");
    assert!(error.is_retryable(), "{error:?}");
    let text = error.to_string();
    assert!(
        text.contains("127.0.0.1:9/app") && !text.contains("secret"),
        "{text}"
    );
}
