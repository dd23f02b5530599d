//! The stamp (R21, R22).

use std::sync::atomic::{AtomicU32, Ordering};

use warp_policy::Mode;

use super::policies::mutex;
use super::scene::{Explicit, stamp};
use super::{Harness, Outcome, Scene};
use crate::model::{End, JobState, Resolution, Resolver, Unresolved};

/// Counts how often it is asked.
#[derive(Debug, Default)]
struct Counting(AtomicU32);

impl Resolver for Counting {
    fn resolve(&self, job: &Unresolved) -> Resolution {
        self.0.fetch_add(1, Ordering::SeqCst);
        Explicit.resolve(job)
    }
}

/// Never knows.
#[derive(Debug)]
struct Failing;

impl Resolver for Failing {
    fn resolve(&self, job: &Unresolved) -> Resolution {
        Resolution::Fail(format!("no idea of `{}`", job.kind))
    }
}

/// R21: whether it starts, waits or is skipped.
pub async fn the_stamp_is_written_by_the_turn_that_judges(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let ids = [
        scene.enqueue("a", mutex("k", Mode::Wait)?).await?,
        scene.enqueue("a", mutex("k", Mode::Wait)?).await?,
        scene.enqueue("a", mutex("k", Mode::Skip)?).await?,
    ];
    for id in ids {
        assert!(scene.job(id).await?.stamp.is_none());
    }
    worker.start(&scene).await?;
    for (id, state) in
        ids.into_iter()
            .zip([JobState::Processing, JobState::Waiting, JobState::Deleted])
    {
        let job = scene.job(id).await?;
        assert_eq!(job.state, state);
        let concurrency = stamp(&job)?.concurrency.as_ref().ok_or("no policy")?;
        assert_eq!(concurrency.spec.key().as_str(), "k");
    }
    Ok(())
}

/// R21: what finds no room was not judged.
pub async fn a_job_left_for_lack_of_room_is_not_stamped(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    worker.room = 1;
    worker.fetch = 10;
    let first = scene.enqueue("a", mutex("k1", Mode::Wait)?).await?;
    let left = scene.enqueue("a", mutex("k2", Mode::Wait)?).await?;
    assert_eq!(worker.start(&scene).await?, [first]);
    let job = scene.job(left).await?;
    assert_eq!((job.state, job.stamp.is_none()), (JobState::Enqueued, true));
    Ok(())
}

/// R22: from then on the row is the authority.
pub async fn a_stamped_job_is_not_resolved_again(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let counting = Counting::default();
    scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    worker.turn(&scene, Vec::new(), &counting).await?;
    assert_eq!(counting.0.load(Ordering::SeqCst), 2);
    for round in 0..4 {
        let started = worker.running.remove(0);
        let end = End::Retry {
            error: "busy".to_owned(),
            after: std::time::Duration::ZERO,
        };
        let finished = crate::model::Finished {
            job: started.job,
            claim: started.claim,
            end,
        };
        worker.turn(&scene, vec![finished], &counting).await?;
        assert_eq!(worker.running.len(), 1, "round {round}");
    }
    assert_eq!(
        counting.0.load(Ordering::SeqCst),
        2,
        "neither waiting nor retried jobs are asked about"
    );
    Ok(())
}

/// R32: it fails with the reason; the others of the turn go on.
pub async fn a_job_that_cannot_be_resolved_fails(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let id = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    let turn = worker.turn(&scene, Vec::new(), &Failing).await?;
    assert_eq!(turn.failed, [(id, "no idea of `a`".to_owned())]);
    let job = scene.job(id).await?;
    assert_eq!((job.state, job.attempts), (JobState::Failed, 0));
    assert_eq!(job.error.as_deref(), Some("no idea of `a`"));
    let next = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    assert_eq!(worker.settle(&scene).await?, [next]);
    Ok(())
}
