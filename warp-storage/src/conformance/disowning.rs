//! A worker gives up an attempt whose end cannot be written (R80, R84, R85).

use warp_policy::Mode;

use super::policies::{free, mutex};
use super::{DAWN, Harness, Outcome, Scene};
use crate::clock::Clock;
use crate::error::StoreError;
use crate::model::{Cancelled, End, JobState, Sweep};

/// It becomes ready with a new place and no attempt was used; its slot is free, whoever waits for it goes, and its worker goes on.
pub async fn a_disowned_job_is_lost_and_its_slot_is_free(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let mut other = scene.worker(&["b"]).await?;
    let id = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    let runs = scene.enqueue("a", free()).await?;
    worker.settle(&scene).await?;
    let waits = scene.enqueue("b", mutex("k", Mode::Wait)?).await?;
    other.settle(&scene).await?;
    scene.at(5.0);
    let mut listener = scene.listen();
    let given_up = scene.disown(&mut worker, id).await?;
    assert!(listener.heard(), "somebody else waits for the key");
    let job = scene.job(id).await?;
    assert_eq!(
        (job.state, job.attempts, job.lost, job.place),
        (JobState::Enqueued, 0, 1, harness.clock().now())
    );
    let log = scene.store().log(id).await?;
    let line = log.last().ok_or("nothing was told")?;
    assert!(line.event.to_string().contains("no space"), "{log:?}");
    assert_eq!(line.worker, Some(worker.id));
    assert_eq!(other.settle(&scene).await?, [waits]);
    assert_eq!(scene.sweep().await?.repaired, 0);

    let turn = worker.turn_with(&scene, vec![given_up]).await?;
    assert_eq!(turn.stale, [id], "its claim is gone");
    worker.end(&scene, runs, End::Succeeded).await?;
    assert_eq!(scene.state(runs).await?, JobState::Succeeded);
    Ok(())
}

/// R84: over the number of attempts that may be lost it fails, and says why.
pub async fn a_job_is_disowned_only_so_often(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let id = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    for lost in 1..=3_u32 {
        assert_eq!(worker.settle(&scene).await?, [id]);
        scene.disown(&mut worker, id).await?;
        assert_eq!(scene.job(id).await?.lost, lost);
    }
    let job = scene.job(id).await?;
    assert_eq!(job.state, JobState::Failed);
    assert!(job.error.is_some_and(|error| error.contains("no space")));
    assert!(worker.settle(&scene).await?.is_empty());
    Ok(())
}

/// It does not become ready again.
pub async fn a_cancelled_job_ends_when_it_is_disowned(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let id = scene.enqueue("a", free()).await?;
    worker.settle(&scene).await?;
    assert_eq!(scene.store().cancel(id).await?, Cancelled::Stopping);
    scene.disown(&mut worker, id).await?;
    assert_eq!(scene.state(id).await?, JobState::Deleted);
    Ok(())
}

/// Neither what another worker runs, nor what ran under another claim, nor what ended.
pub async fn nothing_else_is_disowned(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let mut other = scene.worker(&["b"]).await?;
    let first = scene.enqueue("a", free()).await?;
    let foreign = scene.enqueue("b", free()).await?;
    worker.settle(&scene).await?;
    other.settle(&scene).await?;
    let ended = worker.running[0].claim;
    worker.end(&scene, first, End::Succeeded).await?;
    for claim in [ended, other.running[0].claim] {
        let disown =
            scene
                .store()
                .disown(worker.id, claim, "why".to_owned(), Sweep { max_lost: 3 });
        disown.await?;
    }
    assert_eq!(scene.state(first).await?, JobState::Succeeded);
    let job = scene.job(foreign).await?;
    assert_eq!(
        (job.state, job.lost, job.place),
        (JobState::Processing, 0, DAWN)
    );
    Ok(())
}

/// The store says that it refuses it, whatever else was to be written; the job can be disowned.
pub async fn a_result_that_is_refused_changes_nothing(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let refused = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    let other = scene.enqueue("a", free()).await?;
    worker.settle(&scene).await?;
    if harness.refuse_success_of(refused).await.is_none() {
        harness.skipped("a hand on its rows");
        return Ok(());
    }
    let ended = [refused, other].map(|id| worker.take_out(id, End::Succeeded));
    let [first, second] = ended;
    let turn = worker.turn_with(&scene, vec![first?, second?]).await;
    let error = turn.err().ok_or("it was not refused")?;
    assert!(
        matches!(error.downcast_ref(), Some(StoreError::Refused { .. })),
        "{error}"
    );
    for id in [refused, other] {
        assert_eq!(scene.state(id).await?, JobState::Processing);
    }
    let claim = scene.job(refused).await?.claim.ok_or("it does not run")?.1;
    let disown = scene
        .store()
        .disown(worker.id, claim, error.to_string(), Sweep { max_lost: 3 });
    disown.await?;
    assert_eq!(scene.state(refused).await?, JobState::Enqueued);
    assert_eq!(worker.settle(&scene).await?, [refused], "its slot is free");
    Ok(())
}
