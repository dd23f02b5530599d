//! Rows that cannot be read: the job fails with a clear reason, and nobody else notices.

use warp_policy::declaration::Declared;
use warp_policy::precedence::resolve;
use warp_policy::{Mode, Style};

use super::elders::Elder;
use super::policies::{both, mutex, rate, semaphore, token};
use super::scene::Explicit;
use super::{Harness, Outcome, Scene};
use crate::model::{End, JobState};

/// A damaged stamp fails that job, wherever it stands: ready, at the head of its lane, or behind it.
pub async fn a_damaged_stamp_fails_that_job_only(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let mut ids = Vec::new();
    for _ in 0..6 {
        ids.push(scene.enqueue("a", mutex("k", Mode::Wait)?).await?);
    }
    let ready = scene.enqueue("b", mutex("k", Mode::Wait)?).await?;
    assert_eq!(worker.settle(&scene).await?, [ids[0]]);
    let other_keys = serde_json::to_string(&resolve(
        &both(
            mutex("k", Mode::Wait)?,
            rate("r", 1, 60, Style::Fixed, Mode::Wait)?,
        ),
        &Declared::NONE,
        &Declared::NONE,
        &(),
    )?)?;
    let damaged = [
        (ids[1], "{"),
        (ids[3], "{\"v\":99}"),
        (ids[4], "{\"v\":1}"),
        (ids[5], other_keys.as_str()),
        (ready, "[]"),
    ];
    for (id, text) in damaged {
        if harness.overwrite_stamp(id, text).await.is_none() {
            harness.skipped("damaged rows");
            return Ok(());
        }
    }
    let mut other = scene.worker(&["b"]).await?;
    other.settle(&scene).await?;
    assert_eq!(worker.end(&scene, ids[0], End::Succeeded).await?, [ids[2]]);
    worker.end(&scene, ids[2], End::Succeeded).await?;
    worker.settle(&scene).await?;
    for (id, _) in damaged {
        let job = scene.job(id).await?;
        assert_eq!(job.state, JobState::Failed, "{id}");
        assert!(
            job.error
                .is_some_and(|error| error.contains("the stamp on the job's row"))
        );
    }
    let next = scene.enqueue("a", mutex("k", Mode::Skip)?).await?;
    assert_eq!(
        worker.settle(&scene).await?,
        [next],
        "nobody is left in the line"
    );
    Ok(())
}

/// A waiting job whose row turns out to be damaged is reported by the turn that finds it, like a ready one.
pub async fn a_waiting_job_that_fails_is_reported(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(scene.enqueue("a", mutex("k", Mode::Wait)?).await?);
    }
    worker.settle(&scene).await?;
    if harness.overwrite_stamp(ids[1], "{").await.is_none() {
        harness.skipped("damaged rows");
        return Ok(());
    }
    let finished = vec![worker.take_out(ids[0], End::Succeeded)?];
    let turn = worker.turn(&scene, finished, &Explicit).await?;
    assert_eq!(worker.running[0].job, ids[2]);
    assert_eq!(turn.failed.len(), 1, "{:?}", turn.failed);
    assert_eq!(turn.failed[0].0, ids[1]);
    assert_eq!(
        scene.job(ids[1]).await?.error,
        Some(turn.failed[0].1.clone())
    );
    Ok(())
}

/// R52: what a job holds is freed at its end, also where its stamp was damaged while it ran.
pub async fn a_damaged_stamp_of_a_running_job_leaks_no_slot(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let mut last = scene.enqueue("a", semaphore("k", 1, Mode::Wait)?).await?;
    worker.settle(&scene).await?;
    for text in ["{", "{\"v\":1}"] {
        let next = scene.enqueue("a", semaphore("k", 1, Mode::Wait)?).await?;
        assert!(worker.settle(&scene).await?.is_empty());
        if harness.overwrite_stamp(last, text).await.is_none() {
            harness.skipped("damaged rows");
            return Ok(());
        }
        assert_eq!(worker.end(&scene, last, End::Succeeded).await?, [next]);
        assert_eq!(scene.state(last).await?, JobState::Succeeded);
        last = next;
    }
    Ok(())
}

/// R46: what was kept for an elder is free when its row turns out to be damaged.
pub async fn a_damaged_elder_frees_its_keys(harness: &dyn Harness) -> Outcome {
    let sweeps = async |scene: &Scene<'_>| -> Outcome {
        scene.sweep().await?;
        Ok(())
    };
    damaged_elder(harness, sweeps).await
}

/// R46: also those of its keys that the turn which found it had no other business with.
pub async fn a_damaged_elder_frees_the_keys_of_other_turns(harness: &dyn Harness) -> Outcome {
    let asks_for_a_token = async |scene: &Scene<'_>| -> Outcome {
        scene.enqueue("a", token()?).await?;
        Ok(())
    };
    damaged_elder(harness, asks_for_a_token).await
}

/// Damages an elder for which a slot is kept, and lets `happens` lead somebody to the line of its other key.
async fn damaged_elder(
    harness: &dyn Harness,
    happens: impl AsyncFn(&Scene<'_>) -> Outcome,
) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let mut other = scene.worker(&["b"]).await?;
    let elder = Elder::new(&scene, &mut worker, &mut other).await?;
    if harness.overwrite_stamp(elder.id, "{").await.is_none() {
        harness.skipped("damaged rows");
        return Ok(());
    }
    happens(&scene).await?;
    worker.settle(&scene).await?;
    assert_eq!(scene.state(elder.id).await?, JobState::Failed);
    assert_eq!(scene.state(elder.stands_back).await?, JobState::Processing);
    Ok(())
}
