//! Jobs: enqueueing, order, queries, the log.

use std::time::Duration;

use warp_policy::Mode;
use warp_policy::ids::JobId;

use super::policies::{free, mutex};
use super::scene::{new_job, stamp};
use super::{DAWN, Harness, Outcome, Scene};
use crate::model::{Counter, End, Event, JobFilter, JobState, NewJob, Ready};

/// Ids tell the order of enqueueing, which decides between jobs of one instant (R43).
pub async fn ids_ascend_in_the_order_of_enqueueing(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut ids = scene
        .enqueue_many((0..50).map(|_| new_job("a")).collect())
        .await?;
    ids.push(scene.enqueue("a", free()).await?);
    assert!(ids.is_sorted_by(|one, next| one < next), "{ids:?}");
    let mut worker = scene.worker(&["a"]).await?;
    worker.room = 100;
    assert_eq!(worker.start(&scene).await?, ids);
    Ok(())
}

/// R110, R21: a new job is `Enqueued`, and has no stamp.
pub async fn a_job_is_shown_as_it_was_enqueued(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let explicit = mutex("k", Mode::Skip)?;
    let new = NewJob {
        payload: "{\"x\":1}".to_owned(),
        priority: 3,
        explicit: explicit.clone(),
        ..new_job("a")
    };
    let id = scene.enqueue_as(new).await?;
    let job = scene.job(id).await?;
    assert_eq!(
        (&*job.kind, &*job.queue, job.payload.as_str()),
        ("a", "default", "{\"x\":1}")
    );
    assert_eq!(
        (job.state, job.priority, job.attempts, job.explicit),
        (JobState::Enqueued, 3, 0, explicit)
    );
    assert_eq!((job.place, job.enqueued_at), (DAWN, DAWN));
    assert!(job.stamp.is_none() && job.waiting.is_none() && job.claim.is_none());
    Ok(())
}

/// R110: a job with a delay or an instant is `Scheduled`; its place is the instant at which it becomes ready.
pub async fn a_scheduled_job_is_ready_at_its_instant(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let later = DAWN.plus(Duration::from_secs(60));
    let by_delay = scene
        .enqueue_as(NewJob {
            ready: Ready::In(Duration::from_secs(60)),
            ..new_job("a")
        })
        .await?;
    let by_instant = scene
        .enqueue_as(NewJob {
            ready: Ready::At(later),
            ..new_job("a")
        })
        .await?;
    let past = scene
        .enqueue_as(NewJob {
            ready: Ready::At(DAWN.minus_micros(1)),
            ..new_job("a")
        })
        .await?;
    assert_eq!(scene.state(by_delay).await?, JobState::Scheduled);

    let mut worker = scene.worker(&["a"]).await?;
    let turn = worker
        .turn(&scene, Vec::new(), &super::scene::Explicit)
        .await?;
    assert_eq!(
        turn.started
            .iter()
            .map(|started| started.job)
            .collect::<Vec<_>>(),
        [past]
    );
    assert_eq!(turn.next_at, Some(later));
    scene.at(59.999_999);
    assert!(worker.start(&scene).await?.is_empty());
    scene.at(60.0);
    assert_eq!(scene.state(by_instant).await?, JobState::Enqueued);
    assert_eq!(worker.start(&scene).await?, [by_delay, by_instant]);
    Ok(())
}

/// R43: priority (higher first), then place, then id.
pub async fn priority_goes_before_place(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let low = scene.enqueue_with_priority("a", -5, free()).await?;
    let first = scene.enqueue("a", free()).await?;
    scene.at(1.0);
    let second = scene.enqueue("b", free()).await?;
    let high = scene.enqueue_with_priority("b", 5, free()).await?;
    let mut worker = scene.worker(&["a", "b"]).await?;
    worker.room = 3;
    assert_eq!(worker.start(&scene).await?, [high, first, second]);
    worker.room = 4;
    assert_eq!(worker.start(&scene).await?, [low]);
    Ok(())
}

/// Lists come by ascending id, filtered, page by page.
pub async fn lists_are_filtered_and_paged(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut jobs: Vec<NewJob> = (0..10).map(|_| new_job("a")).collect();
    jobs.push(new_job("b"));
    jobs.push(NewJob {
        queue: "other".into(),
        ..new_job("a")
    });
    let ids = scene.enqueue_many(jobs).await?;
    let list = async |filter| -> Result<Vec<JobId>, Box<dyn std::error::Error>> {
        Ok(scene
            .store()
            .jobs(filter)
            .await?
            .into_iter()
            .map(|job| job.id)
            .collect())
    };
    assert_eq!(list(JobFilter::default()).await?, ids);
    assert_eq!(
        list(JobFilter {
            limit: 3,
            ..JobFilter::default()
        })
        .await?,
        ids[..3]
    );
    assert_eq!(
        list(JobFilter {
            after: Some(ids[9]),
            ..JobFilter::default()
        })
        .await?,
        ids[10..]
    );
    assert_eq!(
        list(JobFilter {
            kind: Some("b".into()),
            ..JobFilter::default()
        })
        .await?,
        [ids[10]]
    );
    assert_eq!(
        list(JobFilter {
            queue: Some("other".into()),
            ..JobFilter::default()
        })
        .await?,
        [ids[11]]
    );

    let mut worker = scene.worker(&["b"]).await?;
    worker.start(&scene).await?;
    assert_eq!(
        list(JobFilter {
            state: Some(JobState::Processing),
            ..JobFilter::default()
        })
        .await?,
        [ids[10]]
    );
    assert_eq!(
        list(JobFilter {
            state: Some(JobState::Enqueued),
            ..JobFilter::default()
        })
        .await?
        .len(),
        11
    );
    Ok(())
}

/// R110, R112: each decision is in the log with its key and numbers, and is counted once.
pub async fn the_log_keeps_every_decision(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let first = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    let second = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    let skipped = scene.enqueue("a", mutex("k", Mode::Skip)?).await?;
    worker.start(&scene).await?;
    let after = Duration::from_secs(5);
    worker
        .end(
            &scene,
            first,
            End::Retry {
                error: "busy".to_owned(),
                after,
            },
        )
        .await?;
    worker.end(&scene, second, End::Succeeded).await?;

    let log = async |id| -> Result<Vec<String>, Box<dyn std::error::Error>> {
        Ok(scene
            .store()
            .log(id)
            .await?
            .iter()
            .map(|entry| entry.event.to_string())
            .collect())
    };
    let place = DAWN.plus(after);
    let claims: Vec<_> = scene.store().log(first).await?;
    assert!(
        matches!(claims[1].event, Event::Started { attempt: 1, .. })
            && claims[1].worker == Some(worker.id)
    );
    assert_eq!(
        log(first).await?[2],
        format!("attempt failed, next one at {place}: busy")
    );
    let second = log(second).await?;
    assert_eq!(second[0], format!("enqueued, ready at {DAWN}"));
    assert_eq!(second[1], "waiting: concurrency key `k`: 1 of 1 running");
    assert_eq!(second[3], "succeeded");
    assert_eq!(
        log(skipped).await?[1],
        "skipped: concurrency key `k`: 1 of 1 running"
    );
    assert!(
        stamp(&scene.job(skipped).await?)?.concurrency.is_some(),
        "a skipped job is stamped too"
    );

    let counters = scene.store().counters().await?;
    let expected = [
        Counter::Succeeded,
        Counter::Retried,
        Counter::RequeuedConcurrency,
        Counter::DeletedConcurrency,
    ];
    for counter in expected {
        assert_eq!(counters.get(counter), 1, "{counter}");
    }
    assert_eq!(
        (
            counters.requeued(),
            counters.deleted(),
            counters.get(Counter::Failed)
        ),
        (1, 1, 0)
    );
    Ok(())
}

/// A job that is not there is no error.
pub async fn an_unknown_job_is_none(harness: &dyn Harness) -> Outcome {
    let nobody = JobId::new(i64::MAX);
    assert!(harness.store().job(nobody).await?.is_none());
    assert!(harness.store().log(nobody).await?.is_empty());
    Ok(())
}
