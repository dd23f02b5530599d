//! Jobs that are cancelled (R52, R110).

use std::time::Duration;

use warp_policy::{Mode, Style};

use super::elders::Elder;
use super::policies::{free, mutex, rate, semaphore};
use super::scene::{new_job, retry};
use super::{Harness, Outcome, Scene};
use crate::model::{Cancelled, Counter, End, Event, JobState, NewJob, Ready};

const LEASE: Duration = Duration::from_secs(30);

/// What does not run ends at once, and never will; that is said and counted once.
pub async fn a_job_that_does_not_run_ends_at_once(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let ready = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    let later = NewJob {
        ready: Ready::In(Duration::from_secs(10)),
        ..new_job("a")
    };
    let scheduled = scene.enqueue_as(later).await?;
    scene.at(1.0);
    for id in [ready, scheduled] {
        assert_eq!(scene.store().cancel(id).await?, Cancelled::Deleted);
        assert_eq!(scene.store().cancel(id).await?, Cancelled::Ended);
        let job = scene.job(id).await?;
        assert_eq!(job.state, JobState::Deleted);
        assert_eq!(
            (job.ended_at, job.cancelled_at),
            (Some(super::DAWN.plus(Duration::from_secs(1))), job.ended_at)
        );
        let log = scene.store().log(id).await?;
        assert_eq!(
            log.iter()
                .filter(|line| line.event == Event::Cancelled)
                .count(),
            1
        );
    }
    let counters = scene.store().counters().await?;
    assert_eq!(counters.get(Counter::DeletedCancelled), 2);
    assert_eq!(counters.deleted(), 2);
    let mut worker = scene.worker(&["a"]).await?;
    scene.at(20.0);
    assert!(worker.settle(&scene).await?.is_empty());
    Ok(())
}

/// What ended before, or never was, is left alone.
pub async fn what_has_ended_cannot_be_cancelled(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let id = scene.enqueue("a", free()).await?;
    worker.settle(&scene).await?;
    worker.end(&scene, id, End::Succeeded).await?;
    let before = scene.job(id).await?;
    assert_eq!(scene.store().cancel(id).await?, Cancelled::Ended);
    assert_eq!(scene.job(id).await?, before);
    let nobody = warp_policy::ids::JobId::new(id.get() + 1_000);
    assert_eq!(scene.store().cancel(nobody).await?, Cancelled::Unknown);
    Ok(())
}

/// S05: a waiter that is cancelled never runs, and frees nothing: the others keep their order, from whatever place it left.
pub async fn a_cancelled_waiter_leaves_its_lane(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let mut ids = Vec::new();
    for _ in 0..6 {
        ids.push(scene.enqueue("a", mutex("k", Mode::Wait)?).await?);
    }
    assert_eq!(worker.settle(&scene).await?, [ids[0]]);
    for gone in [1, 3, 5] {
        assert_eq!(scene.store().cancel(ids[gone]).await?, Cancelled::Deleted);
        assert!(worker.settle(&scene).await?.is_empty(), "nothing was freed");
    }
    assert_eq!(worker.end(&scene, ids[0], End::Succeeded).await?, [ids[2]]);
    assert_eq!(worker.end(&scene, ids[2], End::Succeeded).await?, [ids[4]]);
    assert_eq!(scene.store().cancel(ids[4]).await?, Cancelled::Stopping);
    assert!(worker.end(&scene, ids[4], End::Returned).await?.is_empty());
    assert_eq!(scene.sweep().await?.repaired, 0);
    Ok(())
}

/// A waiter that was due at that very moment never runs either.
pub async fn a_cancelled_waiter_that_was_due_never_runs(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let rates = || rate("r", 1, 10, Style::Sliding, Mode::Wait);
    let first = scene.enqueue("a", rates()?).await?;
    let due = scene.enqueue("a", rates()?).await?;
    let next = scene.enqueue("a", rates()?).await?;
    worker.settle(&scene).await?;
    worker.end(&scene, first, End::Succeeded).await?;
    scene.at(10.0);
    scene.store().cancel(due).await?;
    assert_eq!(worker.settle(&scene).await?, [next]);
    assert_eq!(scene.state(due).await?, JobState::Deleted);
    Ok(())
}

/// R44: those who stood behind a cancelled head, and could go but for it, go at once.
pub async fn who_stood_behind_a_cancelled_head_goes_at_once(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let mut other = scene.worker(&["b"]).await?;
    scene.enqueue("a", semaphore("k", 2, Mode::Wait)?).await?;
    worker.settle(&scene).await?;
    let small = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    worker.settle(&scene).await?;
    let elsewhere = scene.enqueue("b", semaphore("k", 2, Mode::Wait)?).await?;
    assert!(other.settle(&scene).await?.is_empty());
    let mut listener = scene.listen();
    scene.store().cancel(small).await?;
    assert!(listener.heard(), "somebody has to look");
    assert_eq!(other.settle(&scene).await?, [elsewhere]);

    let small = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    let behind = scene.enqueue("a", semaphore("k", 3, Mode::Wait)?).await?;
    assert!(worker.settle(&scene).await?.is_empty());
    scene.store().cancel(small).await?;
    assert_eq!(worker.settle(&scene).await?, [behind]);
    assert_eq!(scene.sweep().await?.repaired, 0);
    Ok(())
}

/// R46: what was kept for an elder is free when that is cancelled.
pub async fn a_cancelled_elder_frees_its_keys(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let mut other = scene.worker(&["b"]).await?;
    let elder = Elder::new(&scene, &mut worker, &mut other).await?;
    scene.store().cancel(elder.id).await?;
    assert_eq!(worker.settle(&scene).await?, [elder.stands_back]);
    Ok(())
}

/// S01, S05: a running job is named to its worker until it has ended, holds its slot until then, and frees it once.
pub async fn a_running_job_ends_when_its_handler_has(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let running = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    let waits = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    worker.settle(&scene).await?;
    let mut changes = scene.store().changes();
    for _ in 0..2 {
        assert_eq!(scene.store().cancel(running).await?, Cancelled::Stopping);
    }
    changes.cancelled().await;
    assert_eq!(scene.state(running).await?, JobState::Processing);
    for _ in 0..2 {
        let turn = worker.turn_with(&scene, Vec::new()).await?;
        assert_eq!((turn.cancelled, turn.started), (vec![running], Vec::new()));
    }
    worker.room = 1;
    let turn = worker.turn_with(&scene, Vec::new()).await?;
    assert_eq!(turn.cancelled, [running], "without room too");

    assert_eq!(worker.end(&scene, running, End::Returned).await?, [waits]);
    let job = scene.job(running).await?;
    assert_eq!((job.state, job.attempts), (JobState::Deleted, 1));
    let log = scene.store().log(running).await?;
    let told = log.iter().map(|line| &line.event);
    let told: Vec<&Event> = told.skip(2).collect();
    assert_eq!(told, [&Event::Stopping, &Event::Cancelled]);
    let turn = worker.turn_with(&scene, Vec::new()).await?;
    assert!(turn.cancelled.is_empty());
    Ok(())
}

/// Whatever its handler makes of it, a cancelled job never becomes ready again; but what has ended by itself has.
pub async fn a_cancelled_job_never_becomes_ready_again(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let failed = || End::Failed {
        error: "no".to_owned(),
    };
    for (end, state) in [
        (retry(Duration::ZERO), JobState::Deleted),
        (retry(Duration::from_secs(5)), JobState::Deleted),
        (End::Returned, JobState::Deleted),
        (End::Succeeded, JobState::Succeeded),
        (failed(), JobState::Failed),
    ] {
        let id = scene.enqueue("a", mutex("k", Mode::Skip)?).await?;
        worker.settle(&scene).await?;
        scene.store().cancel(id).await?;
        worker.end(&scene, id, end).await?;
        let job = scene.job(id).await?;
        assert_eq!((job.state, job.ended_at.is_some()), (state, true));
        assert!(worker.settle(&scene).await?.is_empty());
    }
    let counters = scene.store().counters().await?;
    assert_eq!(counters.get(Counter::DeletedCancelled), 3);
    assert_eq!(counters.get(Counter::Retried), 0);
    Ok(())
}

/// Nor does it when its worker leaves, or dies.
pub async fn a_cancelled_job_ends_with_its_worker(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut leaving = scene.worker(&["a"]).await?;
    let returned = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    leaving.settle(&scene).await?;
    scene.store().cancel(returned).await?;
    scene.store().deregister(leaving.id).await?;
    assert_eq!(scene.state(returned).await?, JobState::Deleted);

    let mut dead = scene.worker_on("default", &["a"], LEASE).await?;
    let lost = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    dead.settle(&scene).await?;
    scene.store().cancel(lost).await?;
    scene.at(30.0);
    assert_eq!(scene.sweep().await?.dead, [(dead.id, 1)]);
    let job = scene.job(lost).await?;
    assert_eq!((job.state, job.lost), (JobState::Deleted, 1));

    let mut worker = scene.worker(&["a"]).await?;
    let next = scene.enqueue("a", mutex("k", Mode::Skip)?).await?;
    assert_eq!(worker.settle(&scene).await?, [next], "the slot is free");
    let counters = scene.store().counters().await?;
    assert_eq!(counters.get(Counter::DeletedCancelled), 2);
    Ok(())
}
