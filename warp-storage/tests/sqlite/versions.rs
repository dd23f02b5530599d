//! Programs of several versions on one file (R87).

use std::error::Error;

use warp_policy::precedence::ExplicitPolicies;
use warp_storage::Sqlite;
use warp_storage::conformance::Scene;
use warp_storage::model::{End, JobState};
use warp_storage::sqlite::SqliteError;

use crate::in_file::InFile;

type Outcome = Result<(), Box<dyn Error>>;

/// What a later program may do to the file: add to it.
const NEXT_VERSION: &str = "
    ALTER TABLE warp_jobs ADD COLUMN note TEXT NOT NULL DEFAULT '';
    ALTER TABLE warp_lanes ADD COLUMN note TEXT;
    CREATE TABLE warp_notes (job INTEGER PRIMARY KEY, note TEXT);
    CREATE INDEX warp_jobs_by_note ON warp_jobs (note);
    UPDATE warp_store SET schema = schema + 1;";

/// A file whose schema serves only later programs is not touched.
#[tokio::test]
async fn a_file_of_a_program_too_new_is_refused() -> Outcome {
    let harness = InFile::new().await;
    let too_new = "UPDATE warp_store SET schema = 9, serves_from = 7";
    sqlx::query(too_new)
        .execute(&mut *harness.by_hand.lock().await)
        .await?;
    let error = Sqlite::open(harness.sqlite.file())
        .await
        .expect_err("it is too new");
    assert!(
        matches!(
            error,
            SqliteError::NewerSchema {
                found: 9,
                serves_from: 7,
                ..
            }
        ),
        "{error:?}"
    );
    let text = error.to_string();
    assert!(
        text.contains(&harness.sqlite.file().display().to_string()) && text.contains("update"),
        "{text}"
    );
    Ok(())
}

/// What counts is the oldest program that a schema serves, to the number.
#[tokio::test]
async fn a_newer_schema_that_serves_this_program_is_no_trouble() -> Outcome {
    let harness = InFile::new().await;
    let known = harness.ask("SELECT schema FROM warp_store").await;
    for (serves_from, is_served) in [(known, true), (known + 1, false)] {
        let newer = sqlx::query("UPDATE warp_store SET schema = ?1 + 5, serves_from = ?2");
        newer
            .bind(known)
            .bind(serves_from)
            .execute(&mut *harness.by_hand.lock().await)
            .await?;
        let opened = Sqlite::open(harness.sqlite.file()).await;
        assert_eq!(opened.is_ok(), is_served, "{opened:?}");
    }
    Ok(())
}

/// The next version migrates the file while this program works on it, and this one, and others that start later, work on.
#[tokio::test]
async fn this_program_works_on_beside_the_next_version() -> Outcome {
    let harness = InFile::new().await;
    let scene = Scene::new(&harness);
    let mut worker = scene.worker(&["a"]).await?;
    let first = scene.enqueue("a", ExplicitPolicies::default()).await?;
    assert_eq!(worker.start(&scene).await?, [first]);
    let known = harness.ask("SELECT schema FROM warp_store").await;
    sqlx::raw_sql(NEXT_VERSION)
        .execute(&mut *harness.by_hand.lock().await)
        .await?;
    let second = scene.enqueue("a", ExplicitPolicies::default()).await?;
    assert_eq!(worker.end(&scene, first, End::Succeeded).await?, [second]);
    let later = Sqlite::options(harness.sqlite.file())
        .clock(harness.clock.clone())
        .open()
        .await?;
    let id = warp_storage::Store::enqueue(&later, vec![scene_job()]).await?;
    assert_eq!(worker.end(&scene, second, End::Succeeded).await?, id);
    assert_eq!(scene.state(second).await?, JobState::Succeeded);
    assert_eq!(
        harness.ask("SELECT schema FROM warp_store").await,
        known + 1,
        "nobody migrates back"
    );
    Ok(())
}

fn scene_job() -> warp_storage::model::NewJob {
    warp_storage::model::NewJob {
        kind: "a".into(),
        queue: "default".into(),
        payload: "null".to_owned(),
        priority: 0,
        ready: warp_storage::model::Ready::Now,
        explicit: ExplicitPolicies::default(),
    }
}

/// Ten that open a new file at once all find the same schema, made once.
#[tokio::test(flavor = "multi_thread")]
async fn many_may_open_a_new_file_at_once() -> Outcome {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("jobs.db");
    let mut opening = tokio::task::JoinSet::new();
    for _ in 0..10 {
        let file = file.clone();
        opening.spawn(async move { Sqlite::open(file).await });
    }
    let mut stores = Vec::new();
    while let Some(opened) = opening.join_next().await {
        stores.push(opened??);
    }
    for store in &stores {
        warp_storage::Store::enqueue(store, vec![scene_job()]).await?;
    }
    let jobs =
        warp_storage::Store::jobs(&stores[0], warp_storage::model::JobFilter::default()).await?;
    assert_eq!(jobs.len(), 10);
    Ok(())
}
