//! How attempts end.

use std::time::Duration;

use warp_policy::Mode;

use super::policies::{free, mutex};
use super::scene::{Explicit, retry};
use super::{DAWN, Harness, Outcome, Scene};
use crate::model::{Counter, End, Finished, JobState};

/// R110.
pub async fn a_success_ends_the_job(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let id = scene.enqueue("a", free()).await?;
    let mut worker = scene.worker(&["a"]).await?;
    worker.start(&scene).await?;
    let running = scene.job(id).await?;
    assert_eq!(
        (running.state, running.attempts, running.admitted_at),
        (JobState::Processing, 1, Some(DAWN))
    );
    assert_eq!(running.claim, Some((worker.id, worker.running[0].claim)));
    scene.at(2.0);
    worker.end(&scene, id, End::Succeeded).await?;
    let job = scene.job(id).await?;
    assert_eq!((job.state, job.claim), (JobState::Succeeded, None));
    assert_eq!(job.ended_at, Some(DAWN.plus(Duration::from_secs(2))));
    scene.at(1e6);
    assert!(worker.start(&scene).await?.is_empty());
    Ok(())
}

/// R43, R52: a retry is ready after its delay, with that instant as its place, and is the next attempt.
pub async fn a_retry_is_ready_after_its_delay(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let id = scene.enqueue("a", free()).await?;
    let mut worker = scene.worker(&["a"]).await?;
    worker.start(&scene).await?;
    let after = Duration::from_secs(30);
    worker
        .end(
            &scene,
            id,
            End::Retry {
                error: "busy".to_owned(),
                after,
            },
        )
        .await?;
    let job = scene.job(id).await?;
    assert_eq!(
        (job.state, job.place, job.error.as_deref()),
        (JobState::Scheduled, DAWN.plus(after), Some("busy"))
    );
    scene.at(29.999);
    assert!(worker.start(&scene).await?.is_empty());
    scene.at(30.0);
    assert_eq!(worker.start(&scene).await?, [id]);
    assert_eq!(worker.running[0].attempt, 2);
    Ok(())
}

/// R110.
pub async fn a_failure_is_final(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let id = scene.enqueue("a", free()).await?;
    let mut worker = scene.worker(&["a"]).await?;
    worker.start(&scene).await?;
    worker
        .end(
            &scene,
            id,
            End::Failed {
                error: "broken".to_owned(),
            },
        )
        .await?;
    let job = scene.job(id).await?;
    assert_eq!(
        (job.state, job.error.as_deref()),
        (JobState::Failed, Some("broken"))
    );
    assert_eq!(scene.store().counters().await?.get(Counter::Failed), 1);
    scene.at(1e6);
    assert!(worker.start(&scene).await?.is_empty());
    Ok(())
}

/// R83, R43: a job that a shutdown returns keeps its place, and no attempt was used.
pub async fn a_returned_job_keeps_its_place_and_its_attempts(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let first = scene.enqueue("a", free()).await?;
    let mut worker = scene.worker(&["a"]).await?;
    worker.room = 1;
    worker.start(&scene).await?;
    scene.at(10.0);
    let second = scene.enqueue("a", free()).await?;
    assert_eq!(
        worker.end(&scene, first, End::Returned).await?,
        [first],
        "it goes before the later one"
    );
    assert_eq!(worker.running[0].attempt, 1);
    let job = scene.job(first).await?;
    assert_eq!((job.place, job.attempts), (DAWN, 1));
    assert_eq!(worker.end(&scene, first, End::Succeeded).await?, [second]);
    Ok(())
}

/// R81: a result under a claim that is not held any more is refused.
pub async fn a_result_under_a_lost_claim_changes_nothing(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let id = scene.enqueue("a", free()).await?;
    let mut worker = scene.worker(&["a"]).await?;
    worker.start(&scene).await?;
    let old = worker.running[0].claim;
    worker
        .end(
            &scene,
            id,
            End::Retry {
                error: "busy".to_owned(),
                after: Duration::ZERO,
            },
        )
        .await?;
    assert_eq!(
        worker.running.len(),
        1,
        "it runs again, under another claim"
    );

    let late = |claim| {
        vec![Finished {
            job: id,
            claim,
            end: End::Succeeded,
        }]
    };
    let turn = worker.turn(&scene, late(old), &Explicit).await?;
    assert_eq!(turn.stale, [id]);
    assert_eq!(scene.state(id).await?, JobState::Processing);
    let mut other = scene.worker(&["a"]).await?;
    let turn = other
        .turn(&scene, late(worker.running[0].claim), &Explicit)
        .await?;
    assert_eq!(turn.stale, [id], "a claim belongs to its worker");
    assert_eq!(scene.state(id).await?, JobState::Processing);
    Ok(())
}

/// R82: every job is recorded exactly once.
pub async fn a_result_reported_twice_counts_once(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let id = scene.enqueue("a", free()).await?;
    let mut worker = scene.worker(&["a"]).await?;
    worker.start(&scene).await?;
    let finished = Finished {
        job: id,
        claim: worker.running[0].claim,
        end: End::Succeeded,
    };
    worker
        .turn(&scene, vec![finished.clone(), finished.clone()], &Explicit)
        .await?;
    worker.turn(&scene, vec![finished], &Explicit).await?;
    assert_eq!(scene.store().counters().await?.get(Counter::Succeeded), 1);
    assert_eq!(scene.store().log(id).await?.len(), 3);
    Ok(())
}

/// R81: the fencing token ascends with every start in the store.
pub async fn claims_ascend(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut workers = [scene.worker(&["a"]).await?, scene.worker(&["a"]).await?];
    let mut last = 0;
    for round in 0..20 {
        let id = scene.enqueue("a", free()).await?;
        let worker = &mut workers[round % 2];
        worker.start(&scene).await?;
        let claim = worker.running[0].claim.get();
        assert!(claim > last, "{claim} after {last}");
        last = claim;
        worker.end(&scene, id, End::Succeeded).await?;
    }
    Ok(())
}

/// R43: a returned job goes before those that waited for what it held.
pub async fn a_returned_job_goes_before_its_waiters(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let holder = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    worker.settle(&scene).await?;
    scene.at(1.0);
    let waits = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    worker.settle(&scene).await?;
    worker.room = 0;
    worker.end(&scene, holder, End::Returned).await?;
    worker.room = 2;
    assert_eq!(worker.settle(&scene).await?, [holder]);
    assert_eq!(worker.end(&scene, holder, End::Succeeded).await?, [waits]);
    Ok(())
}

/// R43: a retried one goes behind them: its place is the instant of its retry.
pub async fn a_retried_job_goes_behind_its_waiters(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let holder = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    worker.settle(&scene).await?;
    scene.at(1.0);
    let waits = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    worker.settle(&scene).await?;
    scene.at(2.0);
    let again = retry(Duration::ZERO);
    assert_eq!(worker.end(&scene, holder, again).await?, [waits]);
    assert_eq!(worker.end(&scene, waits, End::Succeeded).await?, [holder]);
    Ok(())
}
