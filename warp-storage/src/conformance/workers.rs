//! Workers come, go, and die (R27, R66, R80–R84).

use std::time::Duration;

use warp_policy::Mode;

use super::policies::{free, mutex};
use super::scene::{Explicit, new_job};
use super::{Harness, Outcome, Scene};
use crate::error::StoreError;
use crate::model::{End, JobState, NewJob};

const LEASE: Duration = Duration::from_secs(30);

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
    assert!(scene.sweep().await?.dead.is_empty());
    scene.at(30.0);
    assert_eq!(scene.sweep().await?.dead, [(dead.id, 1)]);
    assert!(scene.sweep().await?.dead.is_empty());
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
    scene.sweep().await?;
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
        scene.sweep().await?;
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
        scene.sweep().await?.dead.is_empty(),
        "it may have been seen just now"
    );
    scene.at(30.0);
    assert_eq!(scene.sweep().await?.dead, [(dead.id, 0)]);
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

/// R80: whoever says that it is alive, or takes a turn, is.
pub async fn a_heartbeat_keeps_a_worker_alive(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker_on("default", &["a"], LEASE).await?;
    let id = scene.enqueue("a", free()).await?;
    worker.settle(&scene).await?;
    scene.at(29.0);
    scene.store().heartbeat(worker.id).await?;
    scene.at(58.0);
    assert!(scene.sweep().await?.dead.is_empty());
    worker.start(&scene).await?;
    scene.at(87.0);
    assert!(scene.sweep().await?.dead.is_empty());
    worker.end(&scene, id, End::Succeeded).await?;
    assert_eq!(scene.state(id).await?, JobState::Succeeded);
    Ok(())
}

/// R43, R44: a worker that was silent for its lease and comes back before it is declared dead finds what was judged without it.
pub async fn a_worker_that_comes_back_in_time_is_counted_on_again(
    harness: &dyn Harness,
) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let mut silent = scene.worker_on("default", &["b"], LEASE).await?;
    let holder = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    worker.settle(&scene).await?;
    let waits = scene.enqueue("b", mutex("k", Mode::Wait)?).await?;
    silent.settle(&scene).await?;
    scene.at(31.0);
    worker.end(&scene, holder, End::Succeeded).await?;
    let mut listener = scene.listen();
    scene.store().heartbeat(silent.id).await?;
    assert!(listener.heard(), "it may be asleep itself");
    silent.settle(&scene).await?;
    assert_eq!(scene.state(waits).await?, JobState::Processing);
    assert_eq!(scene.sweep().await?.repaired, 0);
    Ok(())
}

/// R83: a draining worker starts nothing, whatever room it names, and does not spin for what others will do.
pub async fn a_draining_worker_starts_nothing(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut leaving = scene.worker(&["a"]).await?;
    let holder = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    let waits = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    leaving.settle(&scene).await?;
    scene.store().drain(leaving.id).await?;
    let ready = scene.enqueue("a", free()).await?;
    assert!(
        leaving
            .end(&scene, holder, End::Succeeded)
            .await?
            .is_empty()
    );
    assert!(leaving.settle(&scene).await?.is_empty());
    let mut worker = scene.worker(&["a"]).await?;
    let mut started = worker.settle(&scene).await?;
    started.sort_unstable();
    assert_eq!(started, [waits, ready]);
    Ok(())
}

/// R83: a worker that is gone for good holds up nobody: the kinds that only it had are no longer waited for.
pub async fn a_dead_worker_is_not_waited_for(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut dead = scene.worker_on("default", &["b"], LEASE).await?;
    let mut worker = scene.worker(&["a"]).await?;
    scene.enqueue("b", mutex("k", Mode::Wait)?).await?;
    dead.settle(&scene).await?;
    scene.enqueue("b", mutex("k", Mode::Wait)?).await?;
    dead.settle(&scene).await?;
    let own = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    worker.settle(&scene).await?;
    scene.at(30.0);
    scene.sweep().await?;
    assert_eq!(
        worker.settle(&scene).await?,
        [own],
        "and not a second later"
    );
    Ok(())
}

/// R35: the first one counts, and again and again.
pub async fn workers_agree_on_one_key_secret(harness: &dyn Harness) -> Outcome {
    let store = harness.store();
    for _ in 0..2 {
        store.agree_on_key_secret("one".to_owned()).await?;
        let other = store.agree_on_key_secret("other".to_owned()).await;
        assert!(
            matches!(other, Err(StoreError::OtherKeySecret)),
            "{other:?}"
        );
    }
    Ok(())
}
