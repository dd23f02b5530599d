//! Jobs that are enqueued in a caller's own transaction.

use std::error::Error;

use sqlx::Connection;
use warp_policy::ids::JobId;
use warp_policy::precedence::ExplicitPolicies;
use warp_policy::{ConcurrencySpec, Key, Mode};
use warp_storage::conformance::{Harness, Scene};
use warp_storage::model::{End, Event, JobState, NewJob, Ready};
use warp_storage::postgres::PostgresError;
use warp_storage::{CallersTransaction, Memory, Store, StoreError};

use crate::on_server::{OnServer, connection};

type Outcome = Result<(), Box<dyn Error>>;

fn job() -> NewJob {
    NewJob {
        kind: "a".into(),
        queue: "default".into(),
        payload: "null".to_owned(),
        priority: 0,
        ready: Ready::Now,
        explicit: ExplicitPolicies::default(),
    }
}

/// What a failed call says about the server.
fn of_server(error: &StoreError) -> Option<&PostgresError> {
    match error {
        StoreError::Unusable { source }
        | StoreError::Unavailable { source }
        | StoreError::Refused { source } => source.downcast_ref(),
        _ => None,
    }
}

/// Nothing is visible before the commit, to nobody; then the job is there with its log, and runs. Nothing stays after a rollback.
#[tokio::test]
async fn a_job_exists_once_its_transaction_commits() -> Outcome {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let scene = Scene::new(&harness);
    let mut worker = scene.worker(&["a"]).await?;
    let mut transaction = harness.postgres.begin().await?;
    sqlx::raw_sql(harness.here("CREATE TABLE warp.orders (id bigint PRIMARY KEY)"))
        .execute(&mut *transaction)
        .await?;
    let ids = harness
        .postgres
        .enqueue_in(transaction.connection(), vec![job(), job()])
        .await?;
    assert_eq!(ids.len(), 2);
    assert!(harness.postgres.job(ids[0]).await?.is_none());
    assert!(worker.start(&scene).await?.is_empty());
    transaction.commit().await?;
    assert_eq!(scene.state(ids[0]).await?, JobState::Enqueued);
    assert!(matches!(
        harness.postgres.log(ids[1]).await?[0].event,
        Event::Enqueued { .. }
    ));
    assert_eq!(worker.start(&scene).await?, ids);
    assert_eq!(harness.ask("SELECT count(*) FROM warp.orders").await, 0);

    for is_dropped in [true, false] {
        let mut transaction = harness.postgres.begin().await?;
        harness
            .postgres
            .enqueue_in(transaction.connection(), vec![job()])
            .await?;
        if is_dropped {
            drop(transaction);
        } else {
            transaction.rollback().await?;
        }
    }
    assert_eq!(harness.ask("SELECT count(*) FROM warp.jobs").await, 2);
    assert_eq!(harness.ask("SELECT count(*) FROM warp.log").await, 4);
    Ok(())
}

/// The transaction may be on the caller's own connection, whatever its isolation.
#[tokio::test]
async fn a_transaction_on_the_callers_own_connection_will_do() -> Outcome {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let mut connection = connection().await;
    for isolation in ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"] {
        let begin = sqlx::AssertSqlSafe(format!("BEGIN ISOLATION LEVEL {isolation}"));
        let mut transaction = connection.begin_with(begin).await?;
        let ids = harness
            .postgres
            .enqueue_in(transaction.connection(), vec![job()])
            .await?;
        transaction.commit().await?;
        assert!(harness.postgres.job(ids[0]).await?.is_some());
    }
    Ok(())
}

/// A transaction where the jobs are not kept enqueues nothing and goes on: be there another schema of Warp or none.
#[tokio::test]
async fn a_transaction_on_another_database_is_refused_and_goes_on() -> Outcome {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let mut elsewhere = connection().await;
    // A database without the schema, as this connection sees it.
    let mut transaction = elsewhere.begin().await?;
    let hide = format!("ALTER SCHEMA {0} RENAME TO {0}_away", harness.schema);
    sqlx::raw_sql(sqlx::AssertSqlSafe(hide))
        .execute(&mut *transaction)
        .await?;
    let error = harness
        .postgres
        .enqueue_in(transaction.connection(), vec![job()])
        .await
        .expect_err("another database");
    assert!(
        matches!(of_server(&error), Some(PostgresError::OtherDatabase { .. })),
        "{error:?}"
    );
    assert!(error.to_string().contains(&harness.schema));
    sqlx::query("SELECT 1").execute(&mut *transaction).await?;
    transaction.rollback().await?;

    let mut transaction = elsewhere.begin().await?;
    sqlx::raw_sql(harness.here("UPDATE warp.store SET id = 'another'"))
        .execute(&mut *transaction)
        .await?;
    let error = harness
        .postgres
        .enqueue_in(transaction.connection(), vec![job()])
        .await
        .expect_err("another store of the same name");
    assert!(
        matches!(of_server(&error), Some(PostgresError::OtherDatabase { .. })),
        "{error:?}"
    );
    transaction.rollback().await?;
    assert_eq!(harness.ask("SELECT count(*) FROM warp.jobs").await, 0);
    Ok(())
}

/// A transaction that failed before says so, and a store of another kind too.
#[tokio::test]
async fn transactions_that_will_not_do_say_so() -> Outcome {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let mut transaction = harness.postgres.begin().await?;
    let failed = sqlx::query("SELECT 1 / 0").execute(&mut *transaction).await;
    failed.expect_err("no such number");
    let error = harness
        .postgres
        .enqueue_in(transaction.connection(), vec![job()])
        .await
        .expect_err("it has failed");
    assert!(
        matches!(
            of_server(&error),
            Some(PostgresError::FailedTransaction { .. })
        ),
        "{error:?}"
    );
    assert!(!error.is_retryable(), "the same transaction will never do");
    let refused: Result<Vec<JobId>, _> = Memory::new()
        .enqueue_in(transaction.connection(), vec![job()])
        .await;
    assert!(matches!(
        refused,
        Err(StoreError::ForeignTransaction { .. })
    ));
    let mut foreign = String::from("no connection at all");
    let refused = harness.postgres.enqueue_in(&mut foreign, vec![job()]).await;
    assert!(matches!(
        refused,
        Err(StoreError::ForeignTransaction { .. })
    ));
    Ok(())
}

/// What PostgreSQL cannot keep is refused for good, and enqueues nothing. What an attempt failed with is kept all the same.
#[tokio::test]
async fn a_text_with_a_zero_is_refused_at_enqueue_and_cleaned_at_the_end() -> Outcome {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let scene = Scene::new(&harness);
    let mut worker = scene.worker(&["a"]).await?;
    let payload = "\0".to_owned();
    let refused = harness
        .postgres
        .enqueue(vec![job(), NewJob { payload, ..job() }])
        .await;
    let error = refused.expect_err("it cannot be kept");
    assert!(
        matches!(of_server(&error), Some(PostgresError::Unstorable { .. })),
        "{error:?}"
    );
    assert!(matches!(error, StoreError::Refused { .. }));
    assert!(!error.is_retryable());
    assert_eq!(harness.ask("SELECT count(*) FROM warp.jobs").await, 0);
    let id = scene.enqueue_as(job()).await?;
    worker.start(&scene).await?;
    let error = "a \0 in the middle".to_owned();
    worker.end(&scene, id, End::Failed { error }).await?;
    let failed = scene.job(id).await?;
    assert_eq!(failed.state, JobState::Failed);
    assert_eq!(failed.error.as_deref(), Some("a \u{fffd} in the middle"));
    Ok(())
}

/// R52: a slot goes with its job, whoever ends or deletes the row; who waits for it is served.
#[tokio::test]
async fn a_slot_goes_with_a_row_that_is_changed_by_hand() -> Outcome {
    for hand in [
        "DELETE FROM warp.jobs WHERE state = 'processing'",
        "UPDATE warp.jobs SET state = 'deleted', ended_at = 0, worker = NULL, claim = NULL WHERE state = 'processing'",
    ] {
        let Some(harness) = OnServer::new().await else {
            return Ok(());
        };
        let scene = Scene::new(&harness);
        let mut worker = scene.worker(&["a"]).await?;
        let spec = ConcurrencySpec::mutex(Key::new("k")?).with_mode(Mode::Wait);
        let explicit = ExplicitPolicies {
            concurrency: Some(spec),
            rate_limits: Vec::new(),
        };
        let first = scene.enqueue("a", explicit.clone()).await?;
        let next = scene.enqueue("a", explicit).await?;
        assert_eq!(worker.settle(&scene).await?, [first]);
        sqlx::raw_sql(harness.here(hand))
            .execute(&mut *harness.by_hand.lock().await)
            .await?;
        assert_eq!(harness.ask("SELECT count(*) FROM warp.slots").await, 0);
        scene.sweep().await?;
        assert_eq!(worker.settle(&scene).await?, [next]);
        harness.audit().await?;
    }
    Ok(())
}
