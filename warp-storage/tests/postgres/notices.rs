//! R44: what one process does another one is told.

use std::error::Error;
use std::time::Duration;

use sqlx::AssertSqlSafe;
use tokio::time::timeout;
use warp_policy::precedence::ExplicitPolicies;
use warp_storage::conformance::{Harness, Scene};
use warp_storage::model::{Cancelled, NewJob, Ready};
use warp_storage::{CallersTransaction, Changes, Postgres, Store};

use crate::on_server::{OnServer, url};

type Outcome = Result<(), Box<dyn Error>>;

/// What is heard at once is heard long before.
const WATCHDOG: Duration = Duration::from_secs(60);

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

/// Another process on the same schema, which never looks by itself.
async fn process(harness: &OnServer) -> Result<Postgres, Box<dyn Error>> {
    let options = Postgres::options(&url()).schema(&harness.schema);
    let options = options.looks_every(Duration::from_hours(1));
    Ok(options.max_connections(2).open().await?)
}

async fn hears(changes: &mut Changes) -> Outcome {
    Ok(timeout(WATCHDOG, changes.changed()).await?)
}

/// Whether there is something to hear at this moment.
async fn has_heard(changes: &mut Changes) -> bool {
    tokio::select! {
        biased;
        () = changes.changed() => true,
        () = std::future::ready(()) => false,
    }
}

#[tokio::test]
async fn a_job_is_told_to_other_processes_and_not_to_its_own_again() -> Outcome {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let (ours, theirs) = (process(&harness).await?, process(&harness).await?);
    let (mut here, mut there) = (ours.changes(), theirs.changes());
    for _ in 0..5 {
        ours.enqueue(vec![job()]).await?;
        hears(&mut here).await?;
        hears(&mut there).await?;
    }
    assert!(!has_heard(&mut here).await);
    Ok(())
}

/// A notice of a caller's transaction comes with its commit, to all.
#[tokio::test]
async fn a_job_of_a_transaction_is_told_when_that_commits() -> Outcome {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let (ours, theirs) = (process(&harness).await?, process(&harness).await?);
    let (mut here, mut there) = (ours.changes(), theirs.changes());
    let mut transaction = ours.begin().await?;
    ours.enqueue_in(transaction.connection(), vec![job()])
        .await?;
    assert!(!has_heard(&mut here).await && !has_heard(&mut there).await);
    transaction.commit().await?;
    hears(&mut here).await?;
    hears(&mut there).await?;

    let mut transaction = ours.begin().await?;
    ours.enqueue_in(transaction.connection(), vec![job()])
        .await?;
    transaction.rollback().await?;
    assert_eq!(
        harness
            .store()
            .jobs(warp_storage::model::JobFilter::default())
            .await?
            .len(),
        1
    );
    Ok(())
}

/// A cancel of a running job is told apart from all else, for workers without room; and it is no work for those that have some.
#[tokio::test]
async fn a_cancel_is_told_to_other_processes() -> Outcome {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let scene = Scene::new(&harness);
    let mut worker = scene.worker(&["a"]).await?;
    let running = scene.enqueue_as(job()).await?;
    worker.start(&scene).await?;
    let (ours, theirs) = (process(&harness).await?, process(&harness).await?);
    let (mut here, mut there) = (ours.changes(), theirs.changes());
    assert_eq!(ours.cancel(running).await?, Cancelled::Stopping);
    timeout(WATCHDOG, here.cancelled()).await?;
    timeout(WATCHDOG, there.cancelled()).await?;
    assert!(!has_heard(&mut there).await);
    Ok(())
}

/// A listener whose connection was cut connects again, and catches up.
#[tokio::test]
async fn a_listener_that_was_cut_off_hears_again() -> Outcome {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let (ours, theirs) = (process(&harness).await?, process(&harness).await?);
    let mut there = theirs.changes();
    // Only those that listen on this schema are cut off; others run beside this test.
    let cut = format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE application_name = 'warp listener' AND query = 'LISTEN \"{}\"'",
        harness.schema
    );
    let cut_off = sqlx::query(AssertSqlSafe(cut))
        .fetch_all(&mut *harness.by_hand.lock().await)
        .await?;
    assert_eq!(cut_off.len(), 2);
    ours.enqueue(vec![job()]).await?;
    hears(&mut there).await?;
    // And not that once only.
    while has_heard(&mut there).await {}
    for _ in 0..3 {
        ours.enqueue(vec![job()]).await?;
        hears(&mut there).await?;
    }
    Ok(())
}
