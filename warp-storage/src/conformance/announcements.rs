//! What a store announces: a sleeping worker must hear of what it could not know when it last looked (R44).

use std::time::Duration;

use warp_policy::{Mode, Style};

use super::policies::{both, free, mutex, rate};
use super::scene::retry;
use super::{Harness, Outcome, Scene};
use crate::model::End;

const LEASE: Duration = Duration::from_secs(30);

/// R44.
pub async fn a_new_job_is_announced(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut listener = scene.listen();
    assert!(!listener.heard(), "nothing has happened");
    scene.enqueue("a", free()).await?;
    assert!(listener.heard());
    assert!(!listener.heard(), "once");
    Ok(())
}

/// R44: the turn that frees a key tells those who can run its next head.
pub async fn a_lane_that_wakes_for_others_is_announced(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let mut other = scene.worker(&["b"]).await?;
    let holder = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    worker.settle(&scene).await?;
    let waits = scene.enqueue("b", mutex("k", Mode::Wait)?).await?;
    other.settle(&scene).await?;
    let mut listener = scene.listen();
    worker.end(&scene, holder, End::Succeeded).await?;
    assert!(listener.heard());
    assert_eq!(other.settle(&scene).await?, [waits]);
    Ok(())
}

/// R44: whatever brings a job back, another worker may be the one to take it.
pub async fn a_job_that_comes_back_is_announced(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    for end in [retry(Duration::from_secs(5)), End::Returned] {
        let mut worker = scene.worker(&["a"]).await?;
        let id = scene.enqueue("a", free()).await?;
        worker.settle(&scene).await?;
        let mut listener = scene.listen();
        worker.room = 0;
        worker.end(&scene, id, end.clone()).await?;
        assert!(listener.heard(), "after {end:?}");
        scene.at(5.0);
        worker.room = 1;
        assert_eq!(worker.settle(&scene).await?, [id]);
        worker.end(&scene, id, End::Succeeded).await?;
        scene.at(0.0);
    }

    let mut leaving = scene.worker(&["a"]).await?;
    scene.enqueue("a", free()).await?;
    leaving.settle(&scene).await?;
    let mut listener = scene.listen();
    scene.store().deregister(leaving.id).await?;
    assert!(listener.heard(), "after a worker that left");

    let mut dead = scene.worker_on("default", &["a"], LEASE).await?;
    dead.settle(&scene).await?;
    assert!(!dead.running.is_empty());
    scene.at(31.0);
    let mut listener = scene.listen();
    scene.sweep().await?;
    assert!(listener.heard(), "after a worker that died");
    Ok(())
}

/// R44: a worker that has no room left tells of lanes that become due later: the others looked before they were timed.
pub async fn a_worker_without_room_announces_the_lanes_it_leaves(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let rates = || rate("r", 1, 60, Style::Sliding, Mode::Wait);
    let mut worker = scene.worker(&["a"]).await?;
    let spends = scene.enqueue("a", rates()?).await?;
    worker.settle(&scene).await?;
    worker.end(&scene, spends, End::Succeeded).await?;
    let holds_k = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    let holds_m = scene.enqueue("a", mutex("m", Mode::Wait)?).await?;
    worker.settle(&scene).await?;
    let later = scene
        .enqueue("a", both(mutex("k", Mode::Wait)?, rates()?))
        .await?;
    let next = scene.enqueue("a", mutex("m", Mode::Wait)?).await?;
    worker.settle(&scene).await?;
    let mut other = scene.worker(&["a"]).await?;
    assert!(other.settle(&scene).await?.is_empty());

    let mut listener = scene.listen();
    worker.end(&scene, holds_k, End::Succeeded).await?;
    worker.room = 1;
    assert_eq!(worker.end(&scene, holds_m, End::Succeeded).await?, [next]);
    assert!(listener.heard(), "nobody but the full one knows of it");
    scene.at(60.0);
    assert_eq!(other.settle(&scene).await?, [later]);
    Ok(())
}

/// R44: what a worker does with its own jobs wakes nobody.
pub async fn work_of_its_own_is_not_announced(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    scene.worker(&["b"]).await?;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(scene.enqueue("a", mutex("k", Mode::Wait)?).await?);
    }
    let mut listener = scene.listen();
    worker.settle(&scene).await?;
    for id in ids {
        worker.end(&scene, id, End::Succeeded).await?;
    }
    assert!(!listener.heard());
    Ok(())
}
