//! Rate limits (R49, R60–R67).

use std::time::Duration;

use warp_policy::{Mode, Style};

use super::scene::{Explicit, mutex, rate};
use super::{DAWN, Harness, Outcome, Scene};
use crate::model::{End, JobState};

/// S13, R60: only a start spends a token.
pub async fn a_refused_job_spends_no_token(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    worker.room = 100;
    for style in Style::ALL {
        let key = style.as_str();
        let mut started = 0;
        for half_second in 0..80 {
            scene.at(f64::from(half_second) / 2.0);
            scene
                .enqueue("a", rate(key, 5, 10, style, Mode::Skip)?)
                .await?;
            started += worker.settle(&scene).await?.len();
        }
        let expected = if style == Style::TokenBucket {
            24..=25
        } else {
            20..=20
        };
        assert!(
            expected.contains(&started),
            "{started} of 80 started in style {key}"
        );
        worker.running.clear();
        scene.at(0.0);
    }
    Ok(())
}

/// R44: the worker learns the very instant at which the next one may start.
pub async fn the_next_start_is_announced_to_the_microsecond(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    // The aligned windows of 7 s begin one second after DAWN, then eight.
    assert_eq!(DAWN.as_micros().rem_euclid(7_000_000), 6_000_000);
    let cases = [
        (Style::Fixed, 1, 8_000_000),
        (Style::Sliding, 1, 8_500_000),
        (Style::TokenBucket, 3, 1_500_000 + 2_333_334),
    ];
    for (style, count, due) in cases {
        scene.at(1.5);
        let policy = || rate(style.as_str(), count, 7, style, Mode::Wait);
        for _ in 0..count {
            scene.enqueue("a", policy()?).await?;
        }
        let waits = scene.enqueue("a", policy()?).await?;
        let turn = worker.turn(&scene, Vec::new(), &Explicit).await?;
        assert_eq!(turn.started.len(), count as usize);
        let at = turn.next_at.ok_or("nothing is announced")?;
        assert_eq!(at, DAWN.plus_micros(due), "{style}");
        harness.clock().set(at.minus_micros(1));
        assert!(worker.settle(&scene).await?.is_empty());
        harness.clock().set(at);
        assert_eq!(worker.settle(&scene).await?, [waits]);
        worker.running.clear();
    }
    Ok(())
}

/// R64: and no more.
pub async fn each_instant_starts_as_many_as_it_has_tokens_for(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a", "b"]).await?;
    worker.room = 100;
    worker.fetch = 100;
    for number in 0..30 {
        scene
            .enqueue(
                if number % 2 == 0 { "a" } else { "b" },
                rate("r", 4, 10, Style::Sliding, Mode::Wait)?,
            )
            .await?;
    }
    let mut counts = Vec::new();
    for round in 0..9 {
        scene.at(10.0 * f64::from(round));
        counts.push(worker.settle(&scene).await?.len());
        scene.at(10.0 * f64::from(round) + 5.0);
        assert!(worker.settle(&scene).await?.is_empty());
    }
    assert_eq!(counts, [4, 4, 4, 4, 4, 4, 4, 2, 0]);
    Ok(())
}

/// R33, R67: every start is booked for every style and window of its key, and a new policy counts the known ones.
pub async fn every_start_counts_for_every_style_of_its_key(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    worker.room = 100;
    for _ in 0..3 {
        scene
            .enqueue("a", rate("r", 3, 60, Style::Sliding, Mode::Skip)?)
            .await?;
    }
    assert_eq!(worker.settle(&scene).await?.len(), 3);
    scene
        .enqueue("a", rate("r", 4, 60, Style::TokenBucket, Mode::Skip)?)
        .await?;
    scene
        .enqueue("a", rate("r", 4, 60, Style::TokenBucket, Mode::Skip)?)
        .await?;
    assert_eq!(
        worker.settle(&scene).await?.len(),
        1,
        "three starts are known"
    );
    scene.at(59.0);
    scene
        .enqueue("a", rate("r", 5, 3_600, Style::Fixed, Mode::Skip)?)
        .await?;
    scene
        .enqueue("a", rate("r", 5, 3_600, Style::Fixed, Mode::Skip)?)
        .await?;
    assert_eq!(
        worker.settle(&scene).await?.len(),
        1,
        "four starts are known"
    );
    scene.at(60.0);
    scene
        .enqueue("a", rate("r", 3, 60, Style::Sliding, Mode::Skip)?)
        .await?;
    scene
        .enqueue("a", rate("r", 3, 60, Style::Sliding, Mode::Skip)?)
        .await?;
    assert_eq!(
        worker.settle(&scene).await?.len(),
        2,
        "one start is left in the window"
    );
    Ok(())
}

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

/// R45: enqueue, wait, start, end: four writes of its row, however many windows pass and whichever policy binds.
pub async fn a_waiting_job_is_written_four_times(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let mut ids = Vec::new();
    for _ in 0..30 {
        let policies = super::scene::both(
            mutex("k", Mode::Wait)?,
            rate("r", 3, 60, Style::Sliding, Mode::Wait)?,
        );
        ids.push(scene.enqueue("a", policies).await?);
    }
    for round in 0..40 {
        scene.at(20.0 * f64::from(round));
        worker.settle(&scene).await?;
        if let Some(running) = worker.running.first().map(|started| started.job) {
            worker.end(&scene, running, End::Succeeded).await?;
        }
    }
    for id in ids {
        assert_eq!(scene.state(id).await?, JobState::Succeeded);
        assert!(
            harness.job_writes(id).is_none_or(|writes| writes <= 4),
            "{:?}",
            harness.job_writes(id)
        );
    }
    Ok(())
}
