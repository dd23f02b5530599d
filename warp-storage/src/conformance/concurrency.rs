//! Slots (R50–R53).

use std::time::Duration;

use warp_policy::{Mode, Style};

use super::policies::{mutex, rate, semaphore};
use super::{Harness, Outcome, Scene};
use crate::model::{End, JobState};

/// R50: over several workers.
pub async fn a_semaphore_admits_its_limit_and_no_more(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut ids = Vec::new();
    for _ in 0..8 {
        ids.push(scene.enqueue("a", semaphore("k", 5, Mode::Wait)?).await?);
    }
    let (mut one, mut other) = (scene.worker(&["a"]).await?, scene.worker(&["a"]).await?);
    one.room = 3;
    assert_eq!(one.settle(&scene).await?, ids[..3]);
    assert_eq!(other.settle(&scene).await?, ids[3..5]);
    for &id in &ids[5..] {
        assert_eq!(scene.state(id).await?, JobState::Waiting);
    }
    Ok(())
}

/// R52: success, failure, a retry and a return all free the slot at once.
pub async fn every_end_frees_the_slot(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let after = Duration::from_secs(1_000);
    let ends = [
        End::Succeeded,
        End::Failed {
            error: "broken".to_owned(),
        },
        End::Retry {
            error: "busy".to_owned(),
            after,
        },
    ];
    let mut holder = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    worker.start(&scene).await?;
    for end in ends {
        let next = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
        assert!(worker.settle(&scene).await?.is_empty());
        assert_eq!(
            worker.end(&scene, holder, end.clone()).await?,
            [next],
            "after {end:?}"
        );
        holder = next;
    }
    assert_eq!(
        worker.end(&scene, holder, End::Returned).await?,
        [holder],
        "it may go again itself"
    );
    Ok(())
}

/// R33, R53: each job is judged by its own limit against the shared usage.
pub async fn different_limits_of_one_key_share_its_usage(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["wide", "narrow"]).await?;
    let mut wide = Vec::new();
    for _ in 0..3 {
        wide.push(
            scene
                .enqueue("wide", semaphore("k", 3, Mode::Wait)?)
                .await?,
        );
    }
    assert_eq!(worker.settle(&scene).await?, wide);
    let narrow = scene
        .enqueue("narrow", semaphore("k", 2, Mode::Wait)?)
        .await?;
    worker.settle(&scene).await?;
    assert!(
        worker
            .end(&scene, wide[0], End::Succeeded)
            .await?
            .is_empty(),
        "two still run"
    );
    assert_eq!(worker.end(&scene, wide[1], End::Succeeded).await?, [narrow]);
    Ok(())
}

/// R31: mutexes and semaphores share one key space.
pub async fn mutex_and_semaphore_share_a_key_space(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let holder = scene.enqueue("a", semaphore("k", 2, Mode::Wait)?).await?;
    let waits = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    assert_eq!(worker.settle(&scene).await?, [holder]);
    assert_eq!(worker.end(&scene, holder, End::Succeeded).await?, [waits]);
    Ok(())
}

/// R31: a rate limit of the same key is another key.
pub async fn families_have_separate_key_spaces(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let slot = scene.enqueue("a", mutex("k", Mode::Skip)?).await?;
    let token = scene
        .enqueue("a", rate("k", 1, 60, Style::Fixed, Mode::Skip)?)
        .await?;
    assert_eq!(worker.settle(&scene).await?, [slot, token]);
    Ok(())
}

/// R44: the turn that frees a slot hands it on, also to a job of another lane.
pub async fn the_freed_slot_goes_to_the_next_in_the_same_turn(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a", "b"]).await?;
    let first = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    let second = scene.enqueue("b", mutex("k", Mode::Wait)?).await?;
    let third = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    assert_eq!(worker.settle(&scene).await?, [first]);
    assert_eq!(worker.end(&scene, first, End::Succeeded).await?, [second]);
    assert_eq!(worker.end(&scene, second, End::Succeeded).await?, [third]);
    Ok(())
}
