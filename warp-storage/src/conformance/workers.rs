//! Workers come, go, and die (R27, R66, R80–R84).

use std::time::Duration;

use warp_policy::Mode;

use super::scene::{Explicit, free, mutex, new_job};
use super::{Harness, Outcome, Scene};
use crate::error::StoreError;
use crate::model::{End, JobState, NewJob, Sweep};

const LEASE: Duration = Duration::from_secs(30);
const SWEEP: Sweep = Sweep { max_lost: 3 };

/// R27.
pub async fn a_worker_gets_only_its_kinds_and_queues(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let own = scene
        .enqueue_as(NewJob {
            queue: "mail".into(),
            ..new_job("a")
        })
        .await?;
    scene.enqueue("a", free()).await?;
    scene
        .enqueue_as(NewJob {
            queue: "mail".into(),
            ..new_job("b")
        })
        .await?;
    let mut worker = scene.worker_on("mail", &["a"], LEASE).await?;
    assert_eq!(worker.settle(&scene).await?, [own]);
    Ok(())
}

/// R43, R83: a draining worker finishes what it runs, and nobody waits for it.
pub async fn a_draining_worker_is_no_longer_counted_on(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut leaving = scene.worker(&["b"]).await?;
    let mut worker = scene.worker(&["a"]).await?;
    let holder = scene.enqueue("b", mutex("k", Mode::Wait)?).await?;
    leaving.settle(&scene).await?;
    scene.enqueue("b", mutex("k", Mode::Wait)?).await?;
    leaving.settle(&scene).await?;
    let own = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    worker.settle(&scene).await?;
    scene.store().drain(leaving.id).await?;
    leaving.room = 0;
    leaving.end(&scene, holder, End::Succeeded).await?;
    assert_eq!(scene.state(holder).await?, JobState::Succeeded);
    assert_eq!(
        worker.settle(&scene).await?,
        [own],
        "not after a second: nobody else can run the older one"
    );
    Ok(())
}

/// R80: its jobs become ready, with a new place, its slots are free, its waiters are served; once.
pub async fn a_silent_worker_is_declared_dead_once(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut dead = scene.worker_on("default", &["a"], LEASE).await?;
    let mut other = scene.worker(&["a"]).await?;
    let lost = scene.enqueue("a", mutex("k", Mode::Skip)?).await?;
    dead.settle(&scene).await?;
    let waits = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    other.settle(&scene).await?;

    scene.at(29.999);
    assert!(scene.store().sweep(SWEEP).await?.dead.is_empty());
    scene.at(30.0);
    assert_eq!(scene.store().sweep(SWEEP).await?.dead, [(dead.id, 1)]);
    assert!(scene.store().sweep(SWEEP).await?.dead.is_empty());
    let job = scene.job(lost).await?;
    assert_eq!(
        (job.state, job.lost, job.attempts),
        (JobState::Enqueued, 1, 0)
    );
    assert_eq!(job.place, super::DAWN.plus(LEASE));
    assert_eq!(
        other.settle(&scene).await?,
        [waits],
        "it waited before the lost one came back"
    );
    assert_eq!(other.end(&scene, waits, End::Succeeded).await?, [lost]);
    let log = scene.store().log(lost).await?;
    assert!(
        log.iter()
            .any(|entry| entry.event.to_string().contains("one of 1 jobs")),
        "{log:?}"
    );
    Ok(())
}

/// R80, R81: neither its turns nor its results count any more.
pub async fn a_turn_of_a_dead_worker_is_refused(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut dead = scene.worker_on("default", &["a"], LEASE).await?;
    let id = scene.enqueue("a", free()).await?;
    dead.settle(&scene).await?;
    scene.at(31.0);
    scene.store().sweep(SWEEP).await?;
    let finished = crate::model::Finished {
        job: id,
        claim: dead.running[0].claim,
        end: End::Succeeded,
    };
    let refused = dead.turn(&scene, vec![finished], &Explicit).await;
    let error = refused.err().ok_or("a dead worker had a turn")?;
    assert!(
        matches!(error.downcast_ref(), Some(StoreError::WorkerGone { worker }) if *worker == dead.id),
        "{error}"
    );
    assert!(scene.store().heartbeat(dead.id).await.is_err());
    assert_eq!(scene.state(id).await?, JobState::Enqueued);
    Ok(())
}

/// R84: lost attempts are counted apart, and over their number the job fails.
pub async fn a_job_is_lost_only_so_often(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let id = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    for round in 0..3_u32 {
        scene.at(100.0 * f64::from(round));
        let mut worker = scene.worker_on("default", &["a"], LEASE).await?;
        assert_eq!(worker.settle(&scene).await?, [id]);
        assert_eq!(worker.running[0].attempt, 1);
        scene.at(100.0 * f64::from(round) + 50.0);
        scene.store().sweep(SWEEP).await?;
        assert_eq!(scene.job(id).await?.lost, round + 1);
    }
    let job = scene.job(id).await?;
    assert_eq!(job.state, JobState::Failed);
    assert!(job.error.is_some_and(|error| error.contains("worker died")));
    let mut worker = scene.worker(&["a"]).await?;
    let next = scene.enqueue("a", mutex("k", Mode::Skip)?).await?;
    assert_eq!(worker.settle(&scene).await?, [next], "its slot is free");
    Ok(())
}

/// R66.
pub async fn a_clock_that_went_back_delays_no_reclaim_by_more_than_a_lease(
    harness: &dyn Harness,
) -> Outcome {
    let scene = Scene::new(harness);
    scene.at(10_000.0);
    let dead = scene.worker_on("default", &["a"], LEASE).await?;
    scene.at(0.0);
    assert!(
        scene.store().sweep(SWEEP).await?.dead.is_empty(),
        "it may have been seen just now"
    );
    scene.at(30.0);
    assert_eq!(scene.store().sweep(SWEEP).await?.dead, [(dead.id, 0)]);
    Ok(())
}

/// R83: a worker that leaves gives back what it still ran, with its place, and no attempt was used.
pub async fn a_worker_that_leaves_gives_its_jobs_back(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut leaving = scene.worker(&["a"]).await?;
    let id = scene.enqueue("a", mutex("k", Mode::Skip)?).await?;
    leaving.settle(&scene).await?;
    scene.at(5.0);
    scene.store().deregister(leaving.id).await?;
    let job = scene.job(id).await?;
    assert_eq!(
        (job.state, job.attempts, job.lost, job.place),
        (JobState::Enqueued, 0, 0, super::DAWN)
    );
    let mut worker = scene.worker(&["a"]).await?;
    assert_eq!(worker.settle(&scene).await?, [id]);
    assert!(matches!(
        scene.store().deregister(leaving.id).await,
        Err(StoreError::WorkerGone { .. })
    ));
    Ok(())
}
