//! Files in trouble: a clear error that names the file, or the work goes on; nothing is lost.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use warp_policy::precedence::ExplicitPolicies;
use warp_policy::{ConcurrencySpec, Key, Mode};
use warp_storage::conformance::Scene;
use warp_storage::model::{End, JobState, NewJob, Ready};
use warp_storage::sqlite::{SqliteError, Synchronous};
use warp_storage::{Sqlite, Store, StoreError};

use crate::in_file::InFile;

type Outcome = Result<(), Box<dyn Error>>;

fn job(payload: &str) -> NewJob {
    NewJob {
        kind: "a".into(),
        queue: "default".into(),
        payload: format!("\"{payload}\""),
        priority: 0,
        ready: Ready::Now,
        explicit: ExplicitPolicies::default(),
    }
}

/// The error of opening a file, which names it.
async fn error_of(file: &Path) -> SqliteError {
    let error = Sqlite::open(file).await.expect_err("it cannot be opened");
    let name = file
        .file_name()
        .expect("a file")
        .to_string_lossy()
        .into_owned();
    assert!(
        error.to_string().contains(&name),
        "{error} does not name {name}"
    );
    error
}

/// What a failed call says about the file; it names it.
fn trouble<T>(file: &Path, result: Result<T, StoreError>) -> SqliteError {
    let error = result.err().expect("it cannot be done");
    assert!(
        error.to_string().contains(&file.display().to_string()),
        "{error} does not name the file"
    );
    match error {
        StoreError::Unavailable { source } | StoreError::Unusable { source } => {
            *source.downcast().expect("an error of SQLite's")
        }
        error => panic!("{error}"),
    }
}

#[tokio::test]
async fn a_file_that_is_no_database_is_left_alone() -> Outcome {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("letter.txt");
    let text = "Dear Ada,\n".repeat(1_000);
    std::fs::write(&file, &text)?;
    assert!(matches!(
        error_of(&file).await,
        SqliteError::NotADatabase { .. }
    ));
    assert_eq!(std::fs::read_to_string(&file)?, text);
    Ok(())
}

#[tokio::test]
async fn a_folder_that_does_not_exist_is_named() -> Outcome {
    let folder = tempfile::tempdir()?;
    let missing = folder.path().join("missing").join("jobs.db");
    assert!(matches!(
        error_of(&missing).await,
        SqliteError::CannotOpen { .. }
    ));
    assert!(
        matches!(
            error_of(folder.path()).await,
            SqliteError::CannotOpen { .. }
        ),
        "a folder is no file"
    );
    Ok(())
}

#[tokio::test]
async fn no_file_at_all_is_refused_with_a_way_out() {
    for given in ["", ":memory:", "file:jobs.db?mode=memory", "sqlite:jobs.db"] {
        let error = Sqlite::open(given).await.expect_err("it is no file");
        let text = error.to_string();
        assert!(
            text.contains("`Memory`") && text.contains(&format!("`{given}`")),
            "{text}"
        );
    }
}

/// Whoever closes the file closes it for all who share the store; they are told so.
#[tokio::test]
async fn a_store_that_was_closed_says_so() -> Outcome {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("jobs.db");
    let sqlite = Sqlite::open(&file).await?;
    sqlite.clone().close().await?;
    let all = warp_storage::model::JobFilter::default();
    let errors = [
        trouble(&file, sqlite.enqueue(vec![job("late")]).await),
        trouble(&file, sqlite.jobs(all).await),
        sqlite.begin().await.expect_err("it is closed"),
    ];
    for error in errors {
        assert!(matches!(error, SqliteError::Closed { .. }), "{error:?}");
        assert!(!error.is_retryable());
    }
    assert_eq!(
        Sqlite::open(&file)
            .await?
            .enqueue(vec![job("new")])
            .await?
            .len(),
        1
    );
    Ok(())
}

/// The file is full in the middle of everything: what was there stays, each call fails as a whole, and when there is space again the work
/// goes on.
#[tokio::test]
async fn a_full_file_loses_nothing_and_goes_on_when_there_is_space() -> Outcome {
    let harness = InFile::new().await;
    let scene = Scene::new(&harness);
    let mut worker = scene.worker(&["a"]).await?;
    let running = scene.enqueue_as(job("runs")).await?;
    worker.start(&scene).await?;
    let pages = harness.ask("PRAGMA page_count").await;
    let limited = Sqlite::options(harness.sqlite.file())
        .clock(harness.clock.clone())
        .synchronous(Synchronous::Normal)
        .max_pages(u32::try_from(pages)? + 20)
        .open()
        .await?;
    let mut enqueued = 0;
    let error = loop {
        match limited.enqueue(vec![job(&"x".repeat(2_000)); 10]).await {
            Ok(ids) => enqueued += ids.len(),
            full => break trouble(limited.file(), full),
        }
    };
    assert!(matches!(error, SqliteError::Full { .. }), "{error:?}");
    assert!(error.is_retryable());
    assert!(enqueued > 0);
    let count = i64::try_from(enqueued)? + 1;
    assert_eq!(
        harness.ask("SELECT count(*) FROM warp_jobs").await,
        count,
        "whole calls only"
    );

    // The results of what ran cannot be written, and are written later.
    let finished = vec![worker.take_out(
        running,
        End::Failed {
            error: "e".repeat(30_000),
        },
    )?];
    let turn = warp_storage::model::Dispatch {
        worker: worker.id,
        turn: 7,
        finished: finished.clone(),
        room: 0,
        fetch: 0,
    };
    let refused = limited.dispatch(turn.clone(), &Nobody).await;
    assert!(matches!(
        trouble(limited.file(), refused),
        SqliteError::Full { .. }
    ));
    assert_eq!(scene.state(running).await?, JobState::Processing);
    sqlx::query("DELETE FROM warp_jobs WHERE state = 'enqueued'")
        .execute(&mut *harness.by_hand.lock().await)
        .await?;
    assert!(limited.dispatch(turn, &Nobody).await?.stale.is_empty());
    assert_eq!(scene.state(running).await?, JobState::Failed);
    Ok(())
}

/// Resolves nothing, since nothing is fetched.
#[derive(Debug)]
struct Nobody;

impl warp_storage::model::Resolver for Nobody {
    fn resolve(&self, _: &warp_storage::model::Unresolved) -> warp_storage::model::Resolution {
        warp_storage::model::Resolution::Fail("nobody resolves here".to_owned())
    }
}

/// Another program holds the lock for longer than anybody wants to wait: an error that says so. For less: the call goes on by itself.
#[tokio::test]
async fn a_file_that_is_locked_is_waited_for_as_long_as_asked() -> Outcome {
    let harness = InFile::new().await;
    let hasty = Sqlite::options(harness.sqlite.file())
        .patience(Duration::from_millis(50))
        .open()
        .await?;
    let mut other = SqliteConnectOptions::new()
        .filename(harness.sqlite.file())
        .connect()
        .await?;
    sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await?;
    let error = trouble(hasty.file(), hasty.enqueue(vec![job("hasty")]).await);
    assert!(
        matches!(error, SqliteError::Locked { waited, .. } if waited >= Duration::from_millis(50)),
        "{error:?}"
    );
    assert!(error.is_retryable());

    let error = hasty.begin().await.expect_err("it is locked");
    assert!(
        matches!(error, SqliteError::Locked { waited, .. } if waited >= Duration::from_millis(50)),
        "{error:?}"
    );

    let patient = Sqlite::options(harness.sqlite.file())
        .patience(Duration::from_secs(600))
        .open()
        .await?;
    let waits = tokio::spawn(async move { patient.enqueue(vec![job("patient")]).await });
    // Reading goes on all the while.
    assert!(
        hasty
            .jobs(warp_storage::model::JobFilter::default())
            .await?
            .is_empty()
    );
    sqlx::query("COMMIT").execute(&mut other).await?;
    assert_eq!(waits.await??.len(), 1);
    assert_eq!(
        hasty.enqueue(vec![job("hasty")]).await?.len(),
        1,
        "and its connection is as good as before"
    );
    Ok(())
}

/// A job whose row cannot be read fails alone, and whoever asks for it is told.
#[tokio::test]
async fn a_damaged_row_fails_alone_and_is_named() -> Outcome {
    let harness = InFile::new().await;
    let scene = Scene::new(&harness);
    let mut worker = scene.worker(&["a"]).await?;
    let damaged = scene.enqueue_as(job("damaged")).await?;
    let fine = scene.enqueue_as(job("fine")).await?;
    let statement =
        sqlx::query("UPDATE warp_jobs SET explicit = '{' WHERE id = ?1").bind(damaged.get());
    statement
        .execute(&mut *harness.by_hand.lock().await)
        .await?;
    assert_eq!(worker.start(&scene).await?, [fine]);
    assert_eq!(
        harness
            .ask("SELECT count(*) FROM warp_jobs WHERE state = 'failed'")
            .await,
        1
    );
    let error = trouble(harness.sqlite.file(), harness.sqlite.job(damaged).await);
    assert!(matches!(error, SqliteError::Damaged { .. }), "{error:?}");
    Ok(())
}

/// Nor does a payload hold up anybody that is no text at all.
#[tokio::test]
async fn a_payload_that_is_no_text_fails_alone() -> Outcome {
    let harness = InFile::new().await;
    let scene = Scene::new(&harness);
    let mut worker = scene.worker(&["a"]).await?;
    let damaged = scene.enqueue_as(job("damaged")).await?;
    let fine = scene.enqueue_as(job("fine")).await?;
    let statement = "UPDATE warp_jobs SET payload = CAST(x'7b22ff' AS TEXT) WHERE id = ?1";
    sqlx::query(statement)
        .bind(damaged.get())
        .execute(&mut *harness.by_hand.lock().await)
        .await?;
    assert_eq!(worker.start(&scene).await?, [damaged, fine]);
    let shown = harness.sqlite.job(damaged).await?.map(|job| job.payload);
    assert_eq!(
        shown.as_deref(),
        Some("{\"\u{fffd}"),
        "its handler will not read it"
    );
    Ok(())
}

/// What no turn could read cannot be written by hand.
#[tokio::test]
async fn impossible_rows_are_refused() -> Outcome {
    let harness = InFile::new().await;
    let scene = Scene::new(&harness);
    scene.enqueue_as(job("ready")).await?;
    for impossible in [
        "UPDATE warp_jobs SET attempts = -5",
        "UPDATE warp_jobs SET lost = 4294967296",
        "UPDATE warp_jobs SET starts = 9223372036854775807",
        "UPDATE warp_jobs SET state = 'waiting'",
        "UPDATE warp_jobs SET state = 'processing'",
        "UPDATE warp_jobs SET state = 'done'",
    ] {
        let written = sqlx::query(impossible)
            .execute(&mut *harness.by_hand.lock().await)
            .await;
        assert!(written.is_err(), "{impossible}");
    }
    Ok(())
}

/// The row of a running job that somebody deletes takes its slot along, and who waits for that starts.
#[tokio::test]
async fn a_deleted_row_leaves_no_slot_behind() -> Outcome {
    let harness = InFile::new().await;
    let scene = Scene::new(&harness);
    let mut worker = scene.worker(&["a"]).await?;
    let till = ConcurrencySpec::mutex(Key::new("till")?).with_mode(Mode::Wait);
    let mutex = |payload| NewJob {
        explicit: ExplicitPolicies {
            concurrency: Some(till.clone()),
            ..ExplicitPolicies::default()
        },
        ..job(payload)
    };
    let first = scene.enqueue_as(mutex("first")).await?;
    let second = scene.enqueue_as(mutex("second")).await?;
    assert_eq!(worker.start(&scene).await?, [first]);
    sqlx::query("DELETE FROM warp_jobs WHERE id = ?1")
        .bind(first.get())
        .execute(&mut *harness.by_hand.lock().await)
        .await?;
    assert_eq!(harness.ask("SELECT count(*) FROM warp_slots").await, 0);
    let (looks, starts) = (worker.start(&scene).await?, worker.start(&scene).await?);
    assert_eq!((looks, starts), (vec![], vec![second]));
    Ok(())
}

/// A call that is given up in the middle is no trouble for the next one.
#[tokio::test]
async fn a_call_that_is_given_up_leaves_no_lock_behind() -> Outcome {
    let folder = tempfile::tempdir()?;
    let sqlite = Sqlite::open(folder.path().join("jobs.db")).await?;
    for round in 0..200_u32 {
        let mut given_up = Box::pin(sqlite.enqueue(vec![job("given up")]));
        // Polled so often, and then dropped: at each of its waits in turn.
        for _ in 0..=round % 20 {
            tokio::select! {
                biased;
                _ = &mut given_up => break,
                () = tokio::task::yield_now() => {}
            }
        }
        drop(given_up);
        sqlite.enqueue(vec![job("done")]).await?;
    }
    Ok(())
}

/// Pages that were overwritten: an error, not a guess.
#[tokio::test]
async fn a_damaged_file_is_named() -> Outcome {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("jobs.db");
    let sqlite = Sqlite::open(&file).await?;
    sqlite.enqueue(vec![job(&"x".repeat(3_000)); 100]).await?;
    sqlite.close().await?;
    let mut bytes = std::fs::read(&file)?;
    assert!(
        bytes.len() > 100_000,
        "the log was written back into the file"
    );
    let from = 20 * 4096;
    bytes[from..].fill(0x5a);
    std::fs::write(&file, bytes)?;
    let sqlite = Sqlite::open(&file).await?;
    let all = warp_storage::model::JobFilter::default();
    let error = trouble(&file, sqlite.jobs(all).await);
    assert!(matches!(error, SqliteError::Damaged { .. }), "{error:?}");
    assert!(!error.is_retryable());
    Ok(())
}
