//! What a turn reads (R45, R47).

use warp_policy::{Mode, Style};

use super::policies::{free, mutex, rate};
use super::scene::{Explicit, new_job};
use super::{Harness, Outcome, Scene};
use crate::model::{End, NewJob};

/// R45: ready jobs of kinds that a worker does not serve are neither read nor judged by it.
pub async fn foreign_kinds_cost_nothing(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    scene
        .enqueue_many((0..100_000).map(|_| new_job("foreign")).collect())
        .await?;
    let mut worker = scene.worker(&["a"]).await?;
    let before = harness.judgements().await;
    for _ in 0..10 {
        let id = scene.enqueue("a", free()).await?;
        assert_eq!(worker.start(&scene).await?, [id]);
        worker.running.clear();
    }
    match (before, harness.judgements().await) {
        (Some(before), Some(after)) => assert_eq!(after - before, 10),
        _ => harness.skipped("how much is judged"),
    }
    let turn = worker.turn(&scene, Vec::new(), &Explicit).await?;
    assert_eq!(turn.next_at, None, "nothing there is for this worker");
    Ok(())
}

/// R45: ten thousand waiters on one key change nothing for other work.
pub async fn waiters_cost_other_work_nothing(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    worker.fetch = 500;
    let mut jobs = Vec::new();
    for _ in 0..10_000 {
        jobs.push(NewJob {
            explicit: rate("r", 1, 600, Style::Sliding, Mode::Wait)?,
            ..new_job("a")
        });
    }
    scene.enqueue_many(jobs).await?;
    assert_eq!(worker.settle(&scene).await?.len(), 1);
    let before = harness.judgements().await;
    for _ in 0..10 {
        let id = scene.enqueue("a", mutex("other", Mode::Skip)?).await?;
        assert_eq!(worker.settle(&scene).await?, [id]);
        worker.end(&scene, id, End::Succeeded).await?;
    }
    match (before, harness.judgements().await) {
        (Some(before), Some(after)) => assert_eq!(after - before, 10),
        _ => harness.skipped("how much is judged"),
    }
    Ok(())
}

/// R45: while jobs of a full key are put in line by the hundred, each other kind has its share of the fetch.
pub async fn the_intake_of_a_full_key_leaves_other_kinds_their_share(
    harness: &dyn Harness,
) -> Outcome {
    let scene = Scene::new(harness);
    let mut jobs = Vec::new();
    for _ in 0..5_000 {
        jobs.push(NewJob {
            explicit: mutex("full", Mode::Wait)?,
            ..new_job("a")
        });
    }
    scene.enqueue_many(jobs).await?;
    let other = scene.enqueue("b", free()).await?;
    let mut worker = scene.worker(&["a", "b"]).await?;
    worker.fetch = 500;
    let turn = worker.turn(&scene, Vec::new(), &Explicit).await?;
    assert_eq!(turn.started.len(), 2);
    assert!(turn.started.iter().any(|started| started.job == other));
    assert!(turn.refused >= 200, "{} were put in line", turn.refused);
    Ok(())
}

/// R47: a job without policies passes waiters of any key, and is not put behind anybody.
pub async fn policy_free_jobs_are_not_judged_by_any_key(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    for _ in 0..3 {
        scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    }
    worker.settle(&scene).await?;
    let before = harness.limiter_writes().await;
    let id = scene.enqueue("a", free()).await?;
    assert_eq!(worker.start(&scene).await?, [id]);
    worker.end(&scene, id, End::Succeeded).await?;
    assert_eq!(
        harness.limiter_writes().await,
        before,
        "no limiter row is touched"
    );
    let job = scene.job(id).await?;
    assert!(super::scene::stamp(&job)?.is_none());
    Ok(())
}

/// R43: a fetch that is larger than the room changes nothing for those at the front: a job of high priority is not passed because
/// others of its kind are ahead of it.
pub async fn a_larger_fetch_keeps_the_order(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let low = [
        scene.enqueue("b", free()).await?,
        scene.enqueue("c", free()).await?,
    ];
    let urgent = [
        scene.enqueue_with_priority("a", 10, free()).await?,
        scene.enqueue_with_priority("a", 10, free()).await?,
    ];
    let mut worker = scene.worker(&["a", "b", "c"]).await?;
    worker.room = 2;
    worker.fetch = 3;
    assert_eq!(worker.start(&scene).await?, urgent);
    worker.room = 4;
    assert_eq!(worker.start(&scene).await?, low);
    Ok(())
}
