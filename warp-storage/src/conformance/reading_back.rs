//! A worker whose turn was not answered reads back what it did (R85).

use std::collections::BTreeSet;
use std::time::Duration;

use warp_policy::Mode;
use warp_policy::ids::ClaimId;

use super::policies::{free, mutex};
use super::scene::{Scene, retry};
use super::{Harness, Outcome};
use crate::error::StoreError;
use crate::model::End;

/// Of the claims that it knows those are named that it still has: not those that it ended, also where the job runs again.
pub async fn what_a_worker_knows_of_is_told_apart(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let ended = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    let again = scene.enqueue("a", free()).await?;
    let runs = scene.enqueue("a", free()).await?;
    worker.settle(&scene).await?;
    let known: BTreeSet<ClaimId> = worker.running.iter().map(|job| job.claim).collect();
    worker.end(&scene, ended, End::Succeeded).await?;
    worker.end(&scene, again, retry(Duration::ZERO)).await?;
    worker.settle(&scene).await?;
    let claim = |id| {
        let mut running = worker.running.iter();
        running.find(|job| job.job == id).map(|job| job.claim)
    };
    let read = scene.store().read_back(worker.id, known).await?;
    assert_eq!(read.held, claim(runs).into_iter().collect());
    let started: Vec<_> = read.started.iter().map(|job| Some(job.claim)).collect();
    assert_eq!(started, [claim(again)], "it knows the claim before only");
    Ok(())
}

/// As the turn would have answered it.
pub async fn what_was_started_unknown_to_it_is_told_as_it_was_started(
    harness: &dyn Harness,
) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a", "b"]).await?;
    let retried = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    worker.settle(&scene).await?;
    scene.at(7.0);
    worker.end(&scene, retried, retry(Duration::ZERO)).await?;
    scene.enqueue("b", free()).await?;
    worker.settle(&scene).await?;
    scene.at(8.0);
    let mut read = scene
        .store()
        .read_back(worker.id, BTreeSet::default())
        .await?;
    read.started.sort_by_key(|job| job.claim);
    worker.running.sort_by_key(|job| job.claim);
    assert_eq!(read.started, worker.running);
    assert!(read.held.is_empty());
    Ok(())
}

/// What others run is none of its business, whatever it claims to know.
pub async fn nobody_elses_jobs_are_read_back(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut other = scene.worker(&["a"]).await?;
    let worker = scene.worker(&["a"]).await?;
    scene.enqueue("a", free()).await?;
    scene.enqueue("a", free()).await?;
    other.settle(&scene).await?;
    let known = BTreeSet::from([other.running[0].claim]);
    let read = scene.store().read_back(worker.id, known).await?;
    assert_eq!(read, crate::model::ReadBack::default());
    Ok(())
}

/// R80: what it ran is others' now.
pub async fn a_dead_worker_reads_nothing_back(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    scene.enqueue("a", free()).await?;
    worker.settle(&scene).await?;
    scene.store().deregister(worker.id).await?;
    let known = worker.running.iter().map(|job| job.claim).collect();
    let read = scene.store().read_back(worker.id, known).await;
    assert!(
        matches!(read, Err(StoreError::WorkerGone { worker: gone }) if gone == worker.id),
        "{read:?}"
    );
    Ok(())
}
