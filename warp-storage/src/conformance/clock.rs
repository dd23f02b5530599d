//! A clock that goes back (R49, R66).

use std::time::Duration;

use warp_policy::{Mode, Style};

use super::policies::{free, rate};
use super::scene::{Explicit, retry};
use super::{DAWN, Harness, Outcome, Scene};

/// R49: where the clock went back a little, a start is booked at the last one.
pub async fn a_start_is_never_before_the_last_one(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let policy = || rate("r", 10, 60, Style::Sliding, Mode::Wait);
    scene.at(5.0);
    scene.enqueue("a", policy()?).await?;
    worker.settle(&scene).await?;
    scene.at(4.5);
    let second = scene.enqueue("a", policy()?).await?;
    assert_eq!(worker.settle(&scene).await?, [second]);
    assert_eq!(
        worker.running[1].admitted_at,
        DAWN.plus(Duration::from_secs(5))
    );
    assert_eq!(
        scene.job(second).await?.admitted_at,
        Some(worker.running[1].admitted_at)
    );
    Ok(())
}

/// R49, R66: where it went back far, known starts count from now on for one window more.
pub async fn a_clock_that_went_back_gives_no_token_twice(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let policy = || rate("r", 1, 60, Style::Sliding, Mode::Wait);
    scene.at(1_000.0);
    scene.enqueue("a", policy()?).await?;
    worker.settle(&scene).await?;
    scene.at(0.0);
    let waits = scene.enqueue("a", policy()?).await?;
    assert!(worker.settle(&scene).await?.is_empty());
    let next_at = scene
        .job(waits)
        .await?
        .waiting
        .and_then(|waiting| waiting.next_at);
    assert_eq!(
        next_at,
        Some(DAWN.plus(Duration::from_secs(60))),
        "no longer than one window"
    );
    scene.at(60.0);
    assert_eq!(worker.settle(&scene).await?, [waits]);
    Ok(())
}

/// R66: nor does it delay one that waited already by more than one window.
pub async fn a_clock_that_went_back_delays_no_waiter_by_more_than_a_window(
    harness: &dyn Harness,
) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let policy = || rate("r", 1, 60, Style::Sliding, Mode::Wait);
    scene.at(10_000.0);
    scene.enqueue("a", policy()?).await?;
    let waits = scene.enqueue("a", policy()?).await?;
    worker.settle(&scene).await?;
    scene.at(0.0);
    let turn = worker.turn(&scene, Vec::new(), &Explicit).await?;
    assert_eq!(turn.next_at, Some(DAWN.plus(Duration::from_secs(60))));
    scene.at(60.0);
    assert_eq!(worker.settle(&scene).await?, [waits]);
    Ok(())
}

/// R66: a job that is ready stays so, and a delay is counted on the clock as it stands.
pub async fn a_clock_that_went_back_loses_no_ready_job(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    scene.at(1_000.0);
    let ready = scene.enqueue("a", free()).await?;
    let mut worker = scene.worker(&["a"]).await?;
    scene.at(0.0);
    assert_eq!(worker.settle(&scene).await?, [ready]);
    worker
        .end(&scene, ready, retry(Duration::from_secs(5)))
        .await?;
    scene.at(5.0);
    assert_eq!(worker.settle(&scene).await?, [ready]);
    Ok(())
}
