//! Jobs that are enqueued in a caller's own transaction.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};
use sqlx::{ConnectOptions, Connection};
use warp_policy::ids::JobId;
use warp_policy::precedence::ExplicitPolicies;
use warp_storage::conformance::Scene;
use warp_storage::model::{Event, JobState, NewJob, Ready};
use warp_storage::sqlite::{SqliteError, Synchronous};
use warp_storage::{CallersTransaction, Memory, Sqlite, Store, StoreError};

use crate::in_file::InFile;

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

/// What a failed call says about the file.
fn of_file(error: &StoreError) -> Option<&SqliteError> {
    match error {
        StoreError::Unusable { source } | StoreError::Unavailable { source } => {
            source.downcast_ref()
        }
        _ => None,
    }
}

/// `begin` takes the write lock at once, so that what the transaction reads is still so when it writes.
#[tokio::test]
async fn nobody_writes_beside_a_transaction_that_has_begun() -> Outcome {
    let harness = InFile::new().await;
    let hasty = Sqlite::options(harness.sqlite.file()).patience(Duration::from_millis(20));
    let hasty = hasty.open().await?;
    let transaction = harness.sqlite.begin().await?;
    let error = hasty.enqueue(vec![job()]).await.expect_err("it is locked");
    assert!(
        matches!(of_file(&error), Some(SqliteError::Locked { .. })),
        "{error:?}"
    );
    transaction.rollback().await?;
    assert_eq!(hasty.enqueue(vec![job()]).await?.len(), 1);
    Ok(())
}

/// A copy of the file is another file.
#[tokio::test]
async fn a_transaction_on_a_copy_is_refused() -> Outcome {
    let harness = InFile::new().await;
    let folder = tempfile::tempdir()?;
    let copy = folder.path().join("copy.db");
    let name = copy.to_string_lossy().into_owned();
    sqlx::query("VACUUM INTO ?1")
        .bind(name)
        .execute(&mut *harness.by_hand.lock().await)
        .await?;
    let mut transaction = Sqlite::open(&copy).await?.begin().await?;
    let enqueued = harness
        .sqlite
        .enqueue_in(transaction.connection(), vec![job()]);
    let error = enqueued.await.expect_err("it is a copy");
    assert!(
        matches!(of_file(&error), Some(SqliteError::OtherDatabase { .. })),
        "{error:?}"
    );
    Ok(())
}

/// What others did is seen for as long as somebody listens, also where the runtime that opened the file has ended.
#[test]
fn changes_are_seen_in_every_runtime() -> Outcome {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("jobs.db");
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
    };
    let sqlite = runtime()?.block_on(async {
        let sqlite = Sqlite::open(&file).await?;
        drop(sqlite.changes());
        Ok::<_, SqliteError>(sqlite)
    })?;
    runtime()?.block_on(async {
        let mut changes = sqlite.changes();
        let other = Sqlite::open(&file).await?;
        other.enqueue(vec![job()]).await?;
        changes.changed().await;
        Ok(())
    })
}

/// A commit counts when the disk has it, unless asked otherwise.
#[tokio::test]
async fn commits_are_as_safe_as_asked() -> Outcome {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("jobs.db");
    let normal = Sqlite::options(&file).synchronous(Synchronous::Normal);
    for (store, level) in [(Sqlite::open(&file).await?, 2), (normal.open().await?, 1)] {
        let mut transaction = store.begin().await?;
        let synchronous: i64 = sqlx::query_scalar("PRAGMA synchronous")
            .fetch_one(&mut *transaction)
            .await?;
        assert_eq!(synchronous, level);
        transaction.rollback().await?;
    }
    Ok(())
}

/// Two processes that write all the time take turns, more or less.
#[tokio::test(flavor = "multi_thread")]
async fn who_writes_all_the_time_leaves_room_for_others() -> Outcome {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("jobs.db");
    let (ours, theirs) = (Sqlite::open(&file).await?, Sqlite::open(&file).await?);
    let written = Arc::new(AtomicUsize::new(0));
    let beside = tokio::spawn({
        let written = Arc::clone(&written);
        async move {
            while theirs.enqueue(vec![job()]).await.is_ok() {
                written.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    while written.load(Ordering::Relaxed) == 0 {
        ours.enqueue(vec![job()]).await?;
    }
    written.store(0, Ordering::Relaxed);
    for _ in 0..200 {
        ours.enqueue(vec![job()]).await?;
    }
    let written = written.load(Ordering::Relaxed);
    beside.abort();
    assert!((20..=2_000).contains(&written), "{written} beside 200");
    Ok(())
}

/// Nothing is visible before the commit, to nobody; then the job is there with its log, and runs.
#[tokio::test]
async fn a_job_exists_once_its_transaction_commits() -> Outcome {
    let harness = InFile::new().await;
    let scene = Scene::new(&harness);
    let mut worker = scene.worker(&["a"]).await?;
    let mut transaction = harness.sqlite.begin().await?;
    sqlx::query("CREATE TABLE orders (id INTEGER PRIMARY KEY)")
        .execute(&mut *transaction)
        .await?;
    let ids = harness
        .sqlite
        .enqueue_in(transaction.connection(), vec![job(), job()])
        .await?;
    assert_eq!(ids.len(), 2);
    assert!(harness.sqlite.job(ids[0]).await?.is_none());
    assert!(worker.start(&scene).await?.is_empty());
    transaction.commit().await?;
    assert_eq!(scene.state(ids[0]).await?, JobState::Enqueued);
    assert!(matches!(
        harness.sqlite.log(ids[1]).await?[0].event,
        Event::Enqueued { .. }
    ));
    assert_eq!(worker.start(&scene).await?, ids);
    assert_eq!(
        harness.ask("SELECT count(*) FROM orders").await,
        0,
        "the caller's table is there too"
    );
    Ok(())
}

/// Nothing stays after a rollback, be it said or by dropping.
#[tokio::test]
async fn nothing_stays_of_a_transaction_that_is_rolled_back() -> Outcome {
    let harness = InFile::new().await;
    for is_dropped in [true, false] {
        let mut transaction = harness.sqlite.begin().await?;
        harness
            .sqlite
            .enqueue_in(transaction.connection(), vec![job()])
            .await?;
        if is_dropped {
            drop(transaction);
        } else {
            transaction.rollback().await?;
        }
        let ids = harness.sqlite.enqueue(vec![job()]).await?;
        assert_eq!(harness.ask("SELECT count(*) FROM warp_jobs").await, 1);
        assert_eq!(harness.ask("SELECT count(*) FROM warp_log").await, 1);
        let statement = sqlx::query("DELETE FROM warp_jobs WHERE id = ?1").bind(ids[0].get());
        statement
            .execute(&mut *harness.by_hand.lock().await)
            .await?;
        sqlx::query("DELETE FROM warp_log")
            .execute(&mut *harness.by_hand.lock().await)
            .await?;
    }
    Ok(())
}

/// The transaction may be of the caller's own pool. A sleeping worker hears of it when it commits.
#[tokio::test]
async fn a_transaction_of_the_callers_own_pool_will_do_and_is_heard_of() -> Outcome {
    let harness = InFile::new().await;
    let pool =
        SqlitePool::connect_with(SqliteConnectOptions::new().filename(harness.sqlite.file()))
            .await?;
    let mut changes = harness.sqlite.changes();
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    let ids = harness
        .sqlite
        .enqueue_in(transaction.connection(), vec![job()])
        .await?;
    transaction.commit().await?;
    changes.changed().await;
    assert!(harness.sqlite.job(ids[0]).await?.is_some());
    Ok(())
}

/// A transaction on another file enqueues nothing, whether that file has the tables or not.
#[tokio::test]
async fn a_transaction_on_another_file_is_refused() -> Outcome {
    let (harness, other) = (InFile::new().await, InFile::new().await);
    let mut transaction = other.sqlite.begin().await?;
    let error = harness
        .sqlite
        .enqueue_in(transaction.connection(), vec![job()])
        .await
        .expect_err("another file");
    assert!(
        matches!(of_file(&error), Some(SqliteError::OtherDatabase { .. })),
        "{error:?}"
    );
    assert!(
        error
            .to_string()
            .contains(&harness.sqlite.file().display().to_string())
    );
    transaction.commit().await?;
    assert_eq!(other.ask("SELECT count(*) FROM warp_jobs").await, 0);

    let mut empty = SqliteConnectOptions::new()
        .in_memory(true)
        .connect()
        .await?;
    let mut transaction = empty.begin().await?;
    let error = harness
        .sqlite
        .enqueue_in(transaction.connection(), vec![job()])
        .await
        .expect_err("another database");
    assert!(
        matches!(of_file(&error), Some(SqliteError::OtherDatabase { .. })),
        "{error:?}"
    );
    transaction.commit().await?;
    Ok(())
}

/// A store of another kind says so.
#[tokio::test]
async fn a_transaction_of_another_kind_of_database_is_refused() -> Outcome {
    let harness = InFile::new().await;
    let mut transaction = harness.sqlite.begin().await?;
    let refused: Result<Vec<JobId>, _> = Memory::new()
        .enqueue_in(transaction.connection(), vec![job()])
        .await;
    assert!(matches!(
        refused,
        Err(StoreError::ForeignTransaction { .. })
    ));
    let mut foreign = String::from("no connection at all");
    let refused = harness.sqlite.enqueue_in(&mut foreign, vec![job()]).await;
    assert!(matches!(
        refused,
        Err(StoreError::ForeignTransaction { .. })
    ));
    Ok(())
}

/// A transaction that read before somebody else wrote cannot write any more. The error says what to do.
#[tokio::test]
async fn a_transaction_that_read_too_early_is_told_what_to_do() -> Outcome {
    let harness = InFile::new().await;
    let mut connection = SqliteConnectOptions::new()
        .filename(harness.sqlite.file())
        .connect()
        .await?;
    let mut transaction = connection.begin().await?;
    sqlx::query("SELECT count(*) FROM warp_jobs")
        .fetch_all(&mut *transaction)
        .await?;
    harness.sqlite.enqueue(vec![job()]).await?;
    let error = harness
        .sqlite
        .enqueue_in(transaction.connection(), vec![job()])
        .await
        .expect_err("too late");
    assert!(
        matches!(of_file(&error), Some(SqliteError::StaleTransaction { .. })),
        "{error:?}"
    );
    assert!(!error.is_retryable(), "the same transaction will never do");
    assert!(error.to_string().contains("BEGIN IMMEDIATE"));
    transaction.rollback().await?;
    assert_eq!(harness.ask("SELECT count(*) FROM warp_jobs").await, 1);
    Ok(())
}

/// Many callers at once, beside the store's own enqueueing: all or nothing of each, and ids are never mixed up.
#[tokio::test(flavor = "multi_thread")]
async fn callers_and_publishers_do_not_get_into_each_others_way() -> Outcome {
    let harness = Arc::new(InFile::new().await);
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..16 {
        let harness = Arc::clone(&harness);
        tasks.spawn(async move {
            let jobs = vec![
                NewJob {
                    payload: number.to_string(),
                    ..job()
                };
                3
            ];
            let ids = if number % 2 == 0 {
                let mut transaction = harness.sqlite.begin().await.expect("the lock");
                let ids = harness
                    .sqlite
                    .enqueue_in(transaction.connection(), jobs)
                    .await
                    .expect("its jobs");
                transaction.commit().await.expect("a commit");
                ids
            } else {
                harness.sqlite.enqueue(jobs).await.expect("its jobs")
            };
            (number, ids)
        });
    }
    while let Some(done) = tasks.join_next().await {
        let (number, ids) = done?;
        for id in ids {
            let job = harness.sqlite.job(id).await?.ok_or("it is gone")?;
            assert_eq!(job.payload, number.to_string());
        }
    }
    assert_eq!(harness.ask("SELECT count(*) FROM warp_jobs").await, 48);
    Ok(())
}
