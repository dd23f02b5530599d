//! Jobs of several keys (R46).

use warp_policy::{Mode, Style};

use super::elders::Elder;
use super::policies::{both, mutex, rate, slot, token};
use super::{Harness, Outcome, Scene};
use crate::model::{End, JobState};

/// R46: nothing is held while waiting, so opposite orders of keys cannot deadlock.
pub async fn opposite_orders_do_not_deadlock(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let rate = |key| rate(key, 1, 10, Style::Sliding, Mode::Wait);
    let mut ids = Vec::new();
    for round in 0..20 {
        let (one, other) = if round % 2 == 0 {
            ("x", "y")
        } else {
            ("y", "x")
        };
        ids.push(scene.enqueue("a", both(rate(one)?, rate(other)?)).await?);
    }
    let mut workers = [scene.worker(&["a"]).await?, scene.worker(&["a"]).await?];
    let mut started = Vec::new();
    for round in 0..20 {
        scene.at(10.0 * f64::from(round));
        for worker in &mut workers {
            for id in worker.settle(&scene).await? {
                worker.end(&scene, id, End::Succeeded).await?;
                started.push(id);
            }
        }
    }
    started.sort_unstable();
    assert_eq!(started, ids, "one every ten seconds, and none is left");
    Ok(())
}

/// R46: a head that needs two keys at once gets them, although each is taken by a younger job whenever the other one is free.
pub async fn a_head_of_several_keys_does_not_starve(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let first = scene.enqueue("a", token()?).await?;
    worker.settle(&scene).await?;
    let needs_both = scene.enqueue("a", both(slot()?, token()?)).await?;
    worker.settle(&scene).await?;
    worker.end(&scene, first, End::Succeeded).await?;
    for round in 1..=4 {
        scene.at(10.0 * f64::from(round) - 1.0);
        let takes_the_slot = scene.enqueue("a", slot()?).await?;
        worker.settle(&scene).await?;
        scene.at(10.0 * f64::from(round));
        let takes_the_token = scene.enqueue("a", token()?).await?;
        worker.settle(&scene).await?;
        if scene.state(needs_both).await? == JobState::Processing {
            assert_eq!(
                scene.state(takes_the_slot).await?,
                JobState::Waiting,
                "the slot was kept for it"
            );
            return Ok(());
        }
        scene.at(10.0 * f64::from(round) + 1.0);
        for id in [takes_the_slot, takes_the_token] {
            worker.end(&scene, id, End::Succeeded).await?;
        }
    }
    panic!("it starves: {:?}", scene.job(needs_both).await?.waiting);
}

/// R40, R46: while a job waits for one key, its others are free for the rest.
pub async fn a_waiting_job_holds_nothing(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    scene.enqueue("a", token()?).await?;
    worker.settle(&scene).await?;
    let waits = scene.enqueue("a", both(slot()?, token()?)).await?;
    worker.settle(&scene).await?;
    for _ in 0..10 {
        let id = scene.enqueue("a", mutex("slot", Mode::Skip)?).await?;
        assert_eq!(worker.settle(&scene).await?, [id]);
        worker.end(&scene, id, End::Succeeded).await?;
    }
    assert_eq!(scene.state(waits).await?, JobState::Waiting);
    Ok(())
}

/// R46: what is kept for an elder is free again when nobody can run it any more.
pub async fn an_elder_that_nobody_can_run_frees_its_keys(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let mut other = scene.worker(&["b"]).await?;
    let elder = Elder::new(&scene, &mut worker, &mut other).await?;
    scene.store().deregister(other.id).await?;
    assert_eq!(worker.settle(&scene).await?, [elder.stands_back]);
    Ok(())
}
