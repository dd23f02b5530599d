//! One job against its policies (R40–R42).

use std::time::Duration;

use warp_policy::{Mode, Style};

use super::policies::{both, mutex, rate};
use super::{Harness, Outcome, Scene};
use crate::model::{Counter, End, JobState};

/// R40: a job that one key refuses takes no slot and spends no token of its others.
pub async fn one_refusal_takes_nothing(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let rate = |key| rate(key, 1, 60, Style::Sliding, Mode::Wait);
    let spender = scene.enqueue("a", rate("spent")?).await?;
    worker.start(&scene).await?;
    let refused = both(
        mutex("slot", Mode::Wait)?,
        both(rate("fresh")?, rate("spent")?),
    );
    let waits = scene.enqueue("a", refused).await?;
    assert!(worker.settle(&scene).await?.is_empty());

    let slot = scene.enqueue("a", mutex("slot", Mode::Skip)?).await?;
    let fresh = scene.enqueue("a", rate("fresh")?).await?;
    assert_eq!(worker.settle(&scene).await?, [slot, fresh]);
    scene.at(60.0);
    worker.end(&scene, spender, End::Succeeded).await?;
    worker.end(&scene, slot, End::Succeeded).await?;
    worker.settle(&scene).await?;
    assert_eq!(scene.state(waits).await?, JobState::Processing);
    Ok(())
}

/// R41: the first that refuses decides, and concurrency is asked first: a full skip-mode mutex skips although the rate would wait.
pub async fn concurrency_is_judged_before_rate_limits(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let policies = |mutexes, rates| {
        Ok::<_, Box<dyn std::error::Error>>(both(
            mutex("k", mutexes)?,
            rate("r", 1, 60, Style::Fixed, rates)?,
        ))
    };
    scene
        .enqueue("a", policies(Mode::Wait, Mode::Wait)?)
        .await?;
    worker.start(&scene).await?;
    let skipped = scene
        .enqueue("a", policies(Mode::Skip, Mode::Wait)?)
        .await?;
    let waits = scene
        .enqueue("a", policies(Mode::Wait, Mode::Skip)?)
        .await?;
    worker.settle(&scene).await?;
    assert_eq!(scene.state(skipped).await?, JobState::Deleted);
    let job = scene.job(waits).await?;
    assert_eq!(job.state, JobState::Waiting);
    assert_eq!(
        job.waiting
            .map(|waiting| waiting.key.to_string())
            .as_deref(),
        Some("concurrency key `k`")
    );
    Ok(())
}

/// R41, R42, R112.
pub async fn skip_ends_the_job(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    scene.enqueue("a", mutex("k", Mode::Skip)?).await?;
    let by_mutex = scene.enqueue("a", mutex("k", Mode::Skip)?).await?;
    scene
        .enqueue("a", rate("r", 1, 60, Style::Fixed, Mode::Skip)?)
        .await?;
    let by_rate = scene
        .enqueue("a", rate("r", 1, 60, Style::Fixed, Mode::Skip)?)
        .await?;
    assert_eq!(worker.settle(&scene).await?.len(), 2);
    for id in [by_mutex, by_rate] {
        let job = scene.job(id).await?;
        assert_eq!(
            (job.state, job.attempts, job.error),
            (JobState::Deleted, 0, None)
        );
    }
    let counters = scene.store().counters().await?;
    assert_eq!(counters.get(Counter::DeletedConcurrency), 1);
    assert_eq!(counters.get(Counter::DeletedRatelimit), 1);
    assert_eq!(counters.deleted(), 2);
    Ok(())
}

/// R41: skip decides a job's first start only.
pub async fn a_retry_waits_where_a_first_start_is_skipped(harness: &dyn Harness) -> Outcome {
    comes_back(
        harness,
        End::Retry {
            error: "busy".to_owned(),
            after: Duration::from_secs(1),
        },
    )
    .await
}

/// R41: nor does it hit a job that came back through no fault of its own.
pub async fn a_returned_job_waits_where_a_first_start_is_skipped(harness: &dyn Harness) -> Outcome {
    comes_back(harness, End::Returned).await
}

async fn comes_back(harness: &dyn Harness, end: End) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    worker.room = 1;
    let comes_back = scene.enqueue("a", mutex("k", Mode::Skip)?).await?;
    worker.start(&scene).await?;
    let holder = scene
        .enqueue_with_priority("a", 1, mutex("k", Mode::Skip)?)
        .await?;
    assert_eq!(worker.end(&scene, comes_back, end).await?, [holder]);
    scene.at(5.0);
    worker.room = 2;
    assert!(worker.settle(&scene).await?.is_empty());
    assert_eq!(scene.state(comes_back).await?, JobState::Waiting);
    assert_eq!(
        worker.end(&scene, holder, End::Succeeded).await?,
        [comes_back]
    );
    Ok(())
}

/// R41: for a skip-mode job a key with waiters counts as full, although a slot is free.
pub async fn a_key_with_waiters_is_full_for_skip(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let mut other = scene.worker(&["b"]).await?;
    let holder = scene.enqueue("b", mutex("k", Mode::Wait)?).await?;
    other.start(&scene).await?;
    let waits = scene.enqueue("b", mutex("k", Mode::Wait)?).await?;
    other.settle(&scene).await?;
    // The slot is free, but the waiter's worker has no room to take it yet.
    other.room = 0;
    other.end(&scene, holder, End::Succeeded).await?;
    let skipped = scene.enqueue("a", mutex("k", Mode::Skip)?).await?;
    worker.settle(&scene).await?;
    assert_eq!(scene.state(skipped).await?, JobState::Deleted);
    other.room = 1;
    assert_eq!(other.settle(&scene).await?, [waits]);
    Ok(())
}

/// R41: unless no live worker can run any of them.
pub async fn waiters_that_nobody_can_run_do_not_make_a_key_full(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let mut other = scene.worker(&["b"]).await?;
    scene.enqueue("b", mutex("k", Mode::Wait)?).await?;
    scene.enqueue("b", mutex("k", Mode::Wait)?).await?;
    other.settle(&scene).await?;
    assert_eq!(other.running.len(), 1);
    scene.store().deregister(other.id).await?;
    let starts = scene.enqueue("a", mutex("k", Mode::Skip)?).await?;
    assert_eq!(worker.settle(&scene).await?, [starts]);
    Ok(())
}

/// R41: nor one whose worker died.
pub async fn a_lost_job_waits_where_a_first_start_is_skipped(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let lease = Duration::from_secs(30);
    let mut dead = scene.worker_on("default", &["a"], lease).await?;
    let lost = scene.enqueue("a", mutex("k", Mode::Skip)?).await?;
    dead.settle(&scene).await?;
    scene.at(30.0);
    let mut worker = scene.worker(&["a"]).await?;
    let holder = scene
        .enqueue_with_priority("a", 1, mutex("k", Mode::Skip)?)
        .await?;
    scene.sweep().await?;
    assert_eq!(worker.settle(&scene).await?, [holder]);
    assert_eq!(scene.state(lost).await?, JobState::Waiting);
    assert_eq!(worker.end(&scene, holder, End::Succeeded).await?, [lost]);
    Ok(())
}
