//! What the regular sweep does (R44, R68).

use warp_policy::{Mode, Style};

use super::policies::{mutex, rate};
use super::scene::new_job;
use super::{Harness, Outcome, Scene};
use crate::model::{End, NewJob};

/// R44: lanes that sleep although they could go are found, batch by batch, however many there are.
pub async fn lost_wake_ups_are_repaired_and_counted(harness: &dyn Harness) -> Outcome {
    const KEYS: usize = 700;
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    worker.room = 10 * KEYS;
    let mut jobs = Vec::new();
    for number in 0..2 * KEYS {
        let key = format!("r{}", number % KEYS);
        let explicit = rate(&key, 1, 10, Style::Sliding, Mode::Wait)?;
        jobs.push(NewJob {
            explicit,
            ..new_job("a")
        });
    }
    scene.enqueue_many(jobs).await?;
    assert_eq!(worker.settle(&scene).await?.len(), KEYS);
    if harness.lose_wake_ups().await.is_none() {
        harness.skipped("lost wake-ups");
        return Ok(());
    }
    scene.at(20.0);
    assert!(
        worker.settle(&scene).await?.is_empty(),
        "they were lost indeed"
    );
    let mut repaired = 0;
    for _ in 0..10 {
        repaired += scene.sweep().await?.repaired;
    }
    assert_eq!(repaired, KEYS);
    assert_eq!(worker.settle(&scene).await?.len(), KEYS);
    Ok(())
}

/// R44: and where nothing was lost there is nothing to repair.
pub async fn a_sweep_finds_nothing_to_repair(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a", "b"]).await?;
    worker.room = 2;
    for number in 0..20 {
        let kind = if number % 3 == 0 { "a" } else { "b" };
        let policies = super::policies::both(
            mutex("k", Mode::Wait)?,
            rate("r", 2, 10, Style::Fixed, Mode::Wait)?,
        );
        scene.enqueue(kind, policies).await?;
        scene
            .enqueue(kind, rate("r", 3, 10, Style::Fixed, Mode::Wait)?)
            .await?;
    }
    for round in 0..60 {
        scene.at(3.0 * f64::from(round));
        worker.settle(&scene).await?;
        assert_eq!(scene.sweep().await?.repaired, 0, "round {round}");
        if let Some(running) = worker.running.first().map(|started| started.job) {
            worker.end(&scene, running, End::Succeeded).await?;
        }
        assert_eq!(
            scene.sweep().await?.repaired,
            0,
            "round {round}, after an end"
        );
    }
    Ok(())
}

/// R68: not before a fresh one would answer the same.
pub async fn idle_limiters_are_forgotten_and_answer_the_same(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let week = 604_800;
    let mut worker = scene.worker(&["a"]).await?;
    scene
        .enqueue("a", rate("r", 1, week, Style::Sliding, Mode::Skip)?)
        .await?;
    let slot = scene.enqueue("a", mutex("k", Mode::Skip)?).await?;
    worker.settle(&scene).await?;
    worker.end(&scene, slot, End::Succeeded).await?;
    // The mutex is free, and may have left nothing to forget; the rate is not.
    assert!(scene.sweep().await?.forgotten <= 1);
    scene.at(604_799.0);
    assert_eq!(scene.sweep().await?.forgotten, 0);
    scene
        .enqueue("a", rate("r", 1, week, Style::Sliding, Mode::Skip)?)
        .await?;
    assert!(worker.settle(&scene).await?.is_empty());
    scene.at(604_810.0);
    assert_eq!(scene.sweep().await?.forgotten, 1);
    let id = scene
        .enqueue("a", rate("r", 1, week, Style::Sliding, Mode::Skip)?)
        .await?;
    assert_eq!(worker.settle(&scene).await?, [id]);
    Ok(())
}

/// R44: a lane that was timed by what is no longer so is found too.
pub async fn late_timers_are_repaired(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    for _ in 0..2 {
        let policy = rate("r", 1, 10, Style::Sliding, Mode::Wait)?;
        scene.enqueue("a", policy).await?;
    }
    assert_eq!(worker.settle(&scene).await?.len(), 1);
    if harness.lose_wake_ups().await.is_none() {
        harness.skipped("lost wake-ups");
        return Ok(());
    }
    assert_eq!(scene.sweep().await?.repaired, 1, "its timer was lost");
    assert_eq!(scene.sweep().await?.repaired, 0);
    scene.at(10.0);
    assert_eq!(worker.settle(&scene).await?.len(), 1);
    Ok(())
}
