//! Rate limits (R60–R67).

use std::time::Duration;

use warp_policy::{Mode, Style};

use super::policies::{both, mutex, rate};
use super::scene::{Explicit, new_job, retry};
use super::{DAWN, Harness, Outcome, Scene};
use crate::model::{Counter, End, JobState, NewJob};

/// S13, R60: only a start spends a token. 600 jobs in 300 s, 10 a minute.
pub async fn a_refused_job_spends_no_token(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    worker.room = 100;
    for style in Style::ALL {
        let mut starts = vec![0.0];
        for number in 0..600 {
            let at = f64::from(number) / 2.0;
            scene.at(at);
            let policy = rate(style.as_str(), 10, 60, style, Mode::Skip)?;
            scene.enqueue("a", policy).await?;
            for id in worker.settle(&scene).await? {
                worker.end(&scene, id, End::Succeeded).await?;
                starts.push(at);
            }
        }
        let expected = if style == Style::TokenBucket {
            59..=60
        } else {
            50..=50
        };
        let number = starts.len() - 1;
        assert!(expected.contains(&number), "{number} started by {style}");
        let gaps = starts.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(gaps.fold(0.0, f64::max) <= 60.0, "{style}: {starts:?}");
        scene.at(0.0);
    }
    Ok(())
}

/// S12, R62: ten just before and ten just after a full minute, over three workers: never more than ten in any (t − 60 s, t].
pub async fn a_sliding_window_has_no_boundary(harness: &dyn Harness) -> Outcome {
    let starts = around_a_minute(harness, Style::Sliding).await?;
    assert_eq!(starts, [(59.9, 10), (119.9, 10)]);
    Ok(())
}

/// S12, R61: fixed windows are aligned to the epoch for everybody: twenty within 0.2 s across a boundary are right.
pub async fn fixed_windows_are_aligned_to_the_epoch(harness: &dyn Harness) -> Outcome {
    let starts = around_a_minute(harness, Style::Fixed).await?;
    assert_eq!(starts, [(59.9, 10), (60.1, 10)]);
    Ok(())
}

/// When how many start.
async fn around_a_minute(
    harness: &dyn Harness,
    style: Style,
) -> Result<Vec<(f64, usize)>, Box<dyn std::error::Error>> {
    let scene = Scene::new(harness);
    let mut workers = Vec::new();
    for _ in 0..3 {
        workers.push(scene.worker(&["a"]).await?);
    }
    let mut starts = Vec::new();
    for at in [59.9, 60.1, 119.899_999, 119.9, 120.0] {
        scene.at(at);
        if at < 61.0 {
            for _ in 0..10 {
                let policy = rate("sendgrid", 10, 60, style, Mode::Wait)?;
                scene.enqueue("a", policy).await?;
            }
        }
        let mut number = 0;
        for worker in &mut workers {
            number += worker.settle(&scene).await?.len();
            worker.room = worker.running.len() + 10;
        }
        if number > 0 {
            starts.push((at, number));
        }
    }
    Ok(starts)
}

/// S11, R63: three per seven seconds give 33 in 70 s, without drift; one per week is due a week later to the second.
pub async fn odd_ratios_do_not_drift(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    for _ in 0..60 {
        let policy = rate("odd", 3, 7, Style::TokenBucket, Mode::Wait)?;
        scene.enqueue("a", policy).await?;
    }
    let starts = worker.work_off(&scene, Duration::ZERO).await?;
    let in_time = starts.iter().filter(|&&(_, at)| at <= 70.0);
    assert_eq!(in_time.count(), 33);

    scene.at(0.0);
    for _ in 0..2 {
        let policy = rate("week", 1, 604_800, Style::TokenBucket, Mode::Wait)?;
        scene.enqueue("a", policy).await?;
    }
    let starts = worker.work_off(&scene, Duration::ZERO).await?;
    assert_eq!(
        starts.iter().map(|&(_, at)| at).collect::<Vec<_>>(),
        [0.0, 604_800.0]
    );
    Ok(())
}

/// S16 (a): twelve jobs at one start per 2 s take 22 s; waiting is no attempt.
pub async fn waiting_costs_no_attempt(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let job = NewJob {
        explicit: rate("x", 1, 2, Style::Sliding, Mode::Wait)?,
        ..new_job("a")
    };
    let ids = scene.enqueue_many(vec![job; 12]).await?;
    let starts = worker.work_off(&scene, Duration::ZERO).await?;
    let expected = ids.iter().zip(0_u32..);
    assert!(
        starts
            .into_iter()
            .eq(expected.map(|(&id, number)| (id, 2.0 * f64::from(number))))
    );
    for id in ids {
        let job = scene.job(id).await?;
        assert_eq!((job.state, job.attempts), (JobState::Succeeded, 1));
    }
    let counters = scene.store().counters().await?;
    assert_eq!(counters.get(Counter::RequeuedRatelimit), 11);
    assert_eq!(
        counters.get(Counter::Failed) + counters.get(Counter::Retried),
        0
    );
    Ok(())
}

/// S16 (b), R60: every attempt is a start. Four jobs that fail once: eight starts, no two of them within 2 s.
pub async fn every_attempt_is_a_start(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let job = NewJob {
        explicit: rate("x", 1, 2, Style::Sliding, Mode::Wait)?,
        ..new_job("a")
    };
    let ids = scene.enqueue_many(vec![job; 4]).await?;
    let mut starts = Vec::new();
    for tenth in 0..160 {
        scene.at(f64::from(tenth) / 10.0);
        worker.settle(&scene).await?;
        while let Some(started) = worker.running.first().cloned() {
            starts.push(started.admitted_at);
            let end = match started.attempt {
                1 => retry(Duration::from_millis(100)),
                _ => End::Succeeded,
            };
            worker.end(&scene, started.job, end).await?;
        }
    }
    assert_eq!(starts.len(), 8);
    let gaps = starts.windows(2).map(|pair| pair[1].since(pair[0]));
    assert!(gaps.min() >= Some(Duration::from_secs(2)), "{starts:?}");
    for id in ids {
        let job = scene.job(id).await?;
        assert_eq!((job.state, job.attempts), (JobState::Succeeded, 2));
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

/// S07, R40: a job that its mutex turns away uses up no rate, however often it was tried.
pub async fn a_job_turned_away_by_its_mutex_uses_up_no_rate(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["x", "y"]).await?;
    let partner = || rate("partner", 3, 60, Style::Sliding, Mode::Wait);
    let x = || Ok::<_, Box<dyn std::error::Error>>(both(mutex("acct-7", Mode::Wait)?, partner()?));
    let first = scene.enqueue("x", x()?).await?;
    assert_eq!(worker.settle(&scene).await?, [first]);
    scene.at(0.1);
    let second = scene.enqueue("x", x()?).await?;
    for tenth in 1..100 {
        scene.at(f64::from(tenth) / 10.0);
        assert!(worker.settle(&scene).await?.is_empty());
    }
    scene.at(10.0);
    let others = [
        scene.enqueue("y", partner()?).await?,
        scene.enqueue("y", partner()?).await?,
    ];
    assert_eq!(worker.settle(&scene).await?, others);
    scene.at(20.0);
    assert!(worker.end(&scene, first, End::Succeeded).await?.is_empty());
    scene.at(59.999_999);
    assert!(worker.settle(&scene).await?.is_empty());
    scene.at(60.0);
    assert_eq!(worker.settle(&scene).await?, [second]);
    Ok(())
}
