//! Turns of jobs without policies, which a store may take in another way than others (R47).

use std::time::Duration;

use warp_policy::{Mode, Style};

use super::policies::{free, mutex, rate};
use super::scene::retry;
use super::{DAWN, Harness, Outcome, Scene};
use crate::model::{Cancelled, Counter, End, Event, Finished, JobState};

/// R81, R82, R110, R112: one turn with an end of every kind, a result that came too late, and starts.
pub async fn every_end_of_a_turn_without_policies_is_written(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let mut jobs = Vec::new();
    for _ in 0..6 {
        jobs.push(scene.enqueue("a", free()).await?);
    }
    worker.room = 5;
    assert_eq!(worker.start(&scene).await?, jobs[..5]);
    assert_eq!(scene.store().cancel(jobs[3]).await?, Cancelled::Stopping);
    assert_eq!(scene.store().cancel(jobs[4]).await?, Cancelled::Stopping);
    scene.at(1.0);
    let error = || "broken".to_owned();
    let late = worker.take_out(jobs[0], End::Succeeded)?;
    let finished = vec![
        late.clone(),
        worker.take_out(jobs[1], End::Failed { error: error() })?,
        worker.take_out(jobs[2], retry(Duration::from_secs(2)))?,
        worker.take_out(jobs[3], retry(Duration::from_secs(2)))?,
        Finished {
            end: End::Failed { error: error() },
            ..late
        },
    ];
    let turn = worker.turn_with(&scene, finished).await?;
    assert_eq!(turn.stale, [jobs[0]]);
    assert_eq!(turn.cancelled, [jobs[4]]);
    assert_eq!(turn.next_at, Some(DAWN.plus(Duration::from_secs(3))));
    let started: Vec<_> = turn.started.iter().map(|start| start.job).collect();
    assert_eq!(started, jobs[5..]);
    assert_eq!(turn.started[0].admitted_at, turn.now);

    let states = [
        JobState::Succeeded,
        JobState::Failed,
        JobState::Scheduled,
        JobState::Deleted,
    ];
    for (&job, state) in jobs.iter().zip(states) {
        let job = scene.job(job).await?;
        assert_eq!(job.state, state);
        let ends = state != JobState::Scheduled;
        assert_eq!(job.ended_at, ends.then_some(turn.now));
        let place = if ends {
            DAWN
        } else {
            DAWN.plus(Duration::from_secs(3))
        };
        assert_eq!(job.place, place);
        let log = scene.store().log(job.id).await?;
        let last = log.last().ok_or("no log")?;
        assert_eq!((last.at, last.worker), (turn.now, Some(worker.id)));
        let event = match state {
            JobState::Succeeded => Event::Succeeded,
            JobState::Failed => Event::Failed { error: error() },
            JobState::Deleted => Event::Cancelled,
            _ => Event::Retried {
                error: "busy".to_owned(),
                place,
            },
        };
        assert_eq!(last.event, event);
    }
    let counters = scene.store().counters().await?;
    for counter in [
        Counter::Succeeded,
        Counter::Failed,
        Counter::Retried,
        Counter::DeletedCancelled,
    ] {
        assert_eq!(counters.get(counter), 1, "{counter}");
    }
    scene.at(3.0);
    assert_eq!(worker.start(&scene).await?, [jobs[2]], "its retry is due");
    assert_eq!(scene.job(jobs[2]).await?.attempts, 2);
    Ok(())
}

/// R43, R47: a lane that is due and stands before them takes the place of one of them; behind as many as fit it waits for the next turn.
pub async fn a_due_lane_takes_its_turn_among_jobs_without_policies(
    harness: &dyn Harness,
) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let one_a_minute = || rate("r", 1, 60, Style::Sliding, Mode::Wait);
    let first = scene.enqueue("a", one_a_minute()?).await?;
    let waits = scene.enqueue("a", one_a_minute()?).await?;
    assert_eq!(worker.settle(&scene).await?, [first]);
    worker.end(&scene, first, End::Succeeded).await?;
    let later = scene.enqueue("a", free()).await?;
    let high = scene.enqueue_with_priority("a", 1, free()).await?;
    scene.at(60.0);
    worker.room = 1;
    let turn = worker.turn_with(&scene, Vec::new()).await?;
    assert_eq!(turn.started[0].job, high);
    assert_eq!(turn.next_at, Some(turn.now), "there is more to start");
    assert_eq!(worker.end(&scene, high, End::Succeeded).await?, [waits]);
    assert_eq!(worker.end(&scene, waits, End::Succeeded).await?, [later]);
    Ok(())
}

/// R43, R47: so does a ready job that has a policy.
pub async fn a_ready_job_with_a_policy_is_not_passed(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a", "b"]).await?;
    worker.room = 2;
    let first = scene.enqueue("a", free()).await?;
    let keyed = scene.enqueue("b", mutex("k", Mode::Wait)?).await?;
    let last = scene.enqueue("a", free()).await?;
    assert_eq!(worker.start(&scene).await?, [first, keyed]);
    let ended = [first, keyed].map(|job| worker.take_out(job, End::Succeeded));
    let ended = ended.into_iter().collect::<Result<_, _>>()?;
    let turn = worker.turn_with(&scene, ended).await?;
    assert_eq!(turn.started[0].job, last);
    Ok(())
}
