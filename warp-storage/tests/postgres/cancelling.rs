//! A job that is cancelled in one session while another one ends it, or takes its worker out.

use std::error::Error;
use std::time::Duration;

use sqlx::Connection;
use warp_policy::precedence::ExplicitPolicies;
use warp_storage::conformance::{Harness, Scene};
use warp_storage::model::{Cancelled, End, JobState, Sweep};

use crate::on_server::{OnServer, connection};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Waits until so many statements of the harness wait for locks. (A transaction would see them as they were at its first look.)
async fn waiting(harness: &OnServer, number: i64) -> Outcome {
    let question = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'";
    let mut looking = connection().await;
    loop {
        let question = sqlx::query_scalar(question).bind(harness.schema.clone());
        let waiting: i64 = question.fetch_one(&mut looking).await?;
        if waiting >= number {
            return Ok(());
        }
        tokio::task::yield_now().await;
    }
}

/// R82: an end that meets a cancel is not lost, whether the turn waits for it or goes on without it; the job does not come back.
#[tokio::test]
async fn an_end_that_meets_a_cancel_is_written_after_it() -> Outcome {
    for commits_in_time in [false, true] {
        let Some(harness) = OnServer::new().await else {
            return Ok(());
        };
        let scene = Scene::new(&harness);
        let mut worker = scene.worker(&["a"]).await?;
        let met = scene.enqueue("a", ExplicitPolicies::default()).await?;
        let other = scene.enqueue("a", ExplicitPolicies::default()).await?;
        assert_eq!(worker.start(&scene).await?, [met, other]);
        let mut hand = connection().await;
        let mut cancelling = hand.begin().await?;
        let cancel = harness.here("UPDATE warp.jobs SET cancelled_at = 0 WHERE id = $1");
        let cancel = sqlx::query(cancel).bind(met.get());
        cancel.execute(&mut *cancelling).await?;

        let ended = vec![
            worker.take_out(met, End::Returned)?,
            worker.take_out(other, End::Succeeded)?,
        ];
        let mut turn = Box::pin(worker.turn_with(&scene, ended));
        if commits_in_time {
            // The turn waits for a moment only, so it may be over by then.
            let taken = tokio::select! {
                taken = &mut turn => Some(taken?),
                met = waiting(&harness, 1) => { met?; None }
            };
            cancelling.commit().await?;
            let taken = match taken {
                Some(taken) => taken,
                None => (&mut turn).await?,
            };
            assert!(taken.stale.is_empty());
        } else {
            let taken = (&mut turn).await?;
            assert!(taken.stale.is_empty());
            assert_eq!(taken.next_at, Some(taken.now), "it is asked for again");
            assert_eq!(scene.state(met).await?, JobState::Processing);
            assert_eq!(scene.state(other).await?, JobState::Succeeded);
            cancelling.commit().await?;
        }
        drop(turn);
        worker.settle(&scene).await?;
        assert_eq!(scene.state(met).await?, JobState::Deleted);
        assert_eq!(scene.state(other).await?, JobState::Succeeded);
        harness.audit().await?;
    }
    Ok(())
}

/// R80, R82: who declares a worker dead while one of its jobs is cancelled waits, and loses neither.
#[tokio::test]
async fn a_worker_is_not_taken_out_while_its_job_is_cancelled() -> Outcome {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let scene = Scene::new(&harness);
    let lease = Duration::from_secs(30);
    let mut dead = scene.worker_on("default", &["a"], lease).await?;
    let id = scene.enqueue("a", ExplicitPolicies::default()).await?;
    dead.start(&scene).await?;
    scene.at(31.0);
    let mut hand = connection().await;
    let mut holding = hand.begin().await?;
    let lock = harness.here("SELECT 1 FROM warp.jobs WHERE id = $1 FOR UPDATE");
    let lock = sqlx::query(lock).bind(id.get());
    lock.execute(&mut *holding).await?;

    let store = scene.store();
    let cancel = async { Outcome::Ok(store.cancel(id).await?) };
    let sweep = async {
        // The cancel is there first.
        waiting(&harness, 1).await?;
        Outcome::Ok(store.sweep(Sweep { max_lost: 3 }).await?)
    };
    let both_wait = async {
        waiting(&harness, 2).await?;
        holding.rollback().await?;
        Outcome::Ok(())
    };
    let (cancelled, swept, waited) = tokio::join!(cancel, sweep, both_wait);
    waited?;
    assert_eq!(cancelled?, Cancelled::Stopping);
    assert_eq!(swept?.dead, [(dead.id, 1)]);
    assert_eq!(scene.state(id).await?, JobState::Deleted);
    harness.audit().await
}

/// A ready job that is being cancelled is not started, though the turn saw it as ready.
#[tokio::test]
async fn a_job_that_is_being_cancelled_is_not_started() -> Outcome {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let scene = Scene::new(&harness);
    let mut worker = scene.worker(&["a"]).await?;
    let id = scene.enqueue("a", ExplicitPolicies::default()).await?;
    let other = scene.enqueue("a", ExplicitPolicies::default()).await?;
    let mut hand = connection().await;
    let mut cancelling = hand.begin().await?;
    let cancel = harness.here(
        "UPDATE warp.jobs SET cancelled_at = 0, ended_at = 0, state = 'deleted' WHERE id = $1",
    );
    let cancel = sqlx::query(cancel).bind(id.get());
    cancel.execute(&mut *cancelling).await?;
    assert_eq!(worker.start(&scene).await?, [other]);
    cancelling.commit().await?;
    assert!(worker.settle(&scene).await?.is_empty());
    harness.audit().await
}

/// A job that starts while its cancel waits for it is stopped as one that runs.
#[tokio::test]
async fn a_cancel_that_meets_a_start_stops_what_runs() -> Outcome {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let scene = Scene::new(&harness);
    let worker = scene.worker(&["a"]).await?;
    let id = scene.enqueue("a", ExplicitPolicies::default()).await?;
    let mut hand = connection().await;
    let mut starting = hand.begin().await?;
    let start = harness
        .here("UPDATE warp.jobs SET state = 'processing', worker = $2, claim = 1 WHERE id = $1");
    let start = sqlx::query(start).bind(id.get()).bind(worker.id.get());
    start.execute(&mut *starting).await?;
    let store = scene.store();
    let cancel = async { Outcome::Ok(store.cancel(id).await?) };
    let starts = async {
        waiting(&harness, 1).await?;
        starting.commit().await?;
        Outcome::Ok(())
    };
    let (cancelled, started) = tokio::join!(cancel, starts);
    started?;
    assert_eq!(cancelled?, Cancelled::Stopping);
    let job = scene.job(id).await?;
    assert_eq!((job.state, job.ended_at), (JobState::Processing, None));
    Ok(())
}
