//! Lanes and lines (R43).

use std::time::Duration;

use warp_policy::{Mode, Style};

use super::policies::{both, free, mutex, rate, semaphore};
use super::scene::{Explicit, new_job};
use super::{DAWN, Harness, Outcome, Scene};
use crate::model::{End, JobState, NewJob};

/// R43: a new job never passes a waiting one in whose line it would stand, not even one that comes at the moment of the release.
pub async fn a_newcomer_does_not_overtake_a_waiter(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a", "b"]).await?;
    let holder = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    worker.settle(&scene).await?;
    let waits = scene.enqueue("b", mutex("k", Mode::Wait)?).await?;
    worker.settle(&scene).await?;
    let newcomer = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    assert_eq!(worker.end(&scene, holder, End::Succeeded).await?, [waits]);
    assert_eq!(worker.end(&scene, waits, End::Succeeded).await?, [newcomer]);
    Ok(())
}

/// R43: within a line, priority goes first.
pub async fn a_higher_priority_goes_before_waiters(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a", "b"]).await?;
    let mut last = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    worker.settle(&scene).await?;
    let low = scene
        .enqueue_with_priority("a", -1, mutex("k", Mode::Wait)?)
        .await?;
    let middle = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    worker.settle(&scene).await?;
    let high = scene
        .enqueue_with_priority("a", 1, mutex("k", Mode::Wait)?)
        .await?;
    let highest = scene
        .enqueue_with_priority("b", 2, mutex("k", Mode::Wait)?)
        .await?;
    worker.settle(&scene).await?;
    for next in [highest, high, middle, low] {
        assert_eq!(worker.end(&scene, last, End::Succeeded).await?, [next]);
        last = next;
    }
    Ok(())
}

/// R43: the jobs of a lane start in their order, also where the lane sleeps on another key than the one that was freed.
pub async fn a_lane_keeps_its_order(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let policies = || -> Result<_, Box<dyn std::error::Error>> {
        Ok(both(
            semaphore("k", 3, Mode::Wait)?,
            rate("r", 2, 10, Style::Sliding, Mode::Wait)?,
        ))
    };
    let mut ids = Vec::new();
    for _ in 0..9 {
        ids.push(scene.enqueue("a", policies()?).await?);
    }
    let mut started = worker.settle(&scene).await?;
    for round in 1..40 {
        scene.at(3.0 * f64::from(round));
        if let Some(first) = worker.running.first().map(|started| started.job) {
            started.extend(worker.end(&scene, first, End::Succeeded).await?);
        }
        started.extend(worker.settle(&scene).await?);
    }
    assert_eq!(started, ids);
    Ok(())
}

/// R43: a worker leaves a free key for a second to an older head that only others can run, then serves its own.
pub async fn a_free_key_is_left_to_an_older_head_for_a_second(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let mut other = scene.worker(&["b"]).await?;
    let holder = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    worker.settle(&scene).await?;
    let foreign = scene.enqueue("b", mutex("k", Mode::Wait)?).await?;
    other.settle(&scene).await?;
    let own = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    worker.settle(&scene).await?;

    scene.at(10.0);
    let claim = worker.running.remove(0).claim;
    let freed = crate::model::Finished {
        job: holder,
        claim,
        end: End::Succeeded,
    };
    let turn = worker.turn(&scene, vec![freed], &Explicit).await?;
    assert!(turn.started.is_empty());
    assert_eq!(
        turn.next_at,
        Some(DAWN.plus(Duration::from_secs(11))),
        "and it knows when to look again"
    );
    scene.at(10.999_999);
    assert!(worker.settle(&scene).await?.is_empty());
    scene.at(11.0);
    assert_eq!(worker.settle(&scene).await?, [own]);
    assert_eq!(scene.state(foreign).await?, JobState::Waiting);
    worker.room = 0;
    worker.end(&scene, own, End::Succeeded).await?;
    assert_eq!(other.settle(&scene).await?, [foreign]);
    Ok(())
}

/// R43, R45: many more lanes on one key than a turn reads, all of which can go at once.
pub async fn a_line_longer_than_one_read_drains(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    worker.room = 1_000;
    worker.fetch = 500;
    let rates = || rate("r", 300, 10, Style::Fixed, Mode::Wait);
    let mut jobs = Vec::new();
    for number in 0..700 {
        let explicit = both(mutex(&format!("k{number}"), Mode::Wait)?, rates()?);
        jobs.push(NewJob {
            explicit,
            ..new_job("a")
        });
    }
    let ids = scene.enqueue_many(jobs).await?;
    let mut started = Vec::new();
    for round in 0..3 {
        scene.at(10.0 * f64::from(round));
        started.extend(worker.settle(&scene).await?);
    }
    assert_eq!(started, ids, "300 in each window, in order");
    Ok(())
}

/// R43, R44: nor do those of a kind whose workers are busy, for more than a second.
pub async fn a_long_line_of_busy_workers_holds_up_others_for_a_second(
    harness: &dyn Harness,
) -> Outcome {
    let scene = Scene::new(harness);
    let mut busy = scene.worker(&["busy"]).await?;
    busy.room = 1;
    busy.fetch = 500;
    let mut worker = scene.worker(&["a"]).await?;
    let rates = || rate("shared", 1, 5, Style::Sliding, Mode::Wait);
    let mut jobs = Vec::new();
    for number in 0..200 {
        let explicit = both(mutex(&format!("k{number}"), Mode::Wait)?, rates()?);
        jobs.push(NewJob {
            explicit,
            ..new_job("busy")
        });
    }
    let ids = scene.enqueue_many(jobs).await?;
    assert_eq!(busy.settle(&scene).await?, ids[..1]);
    // The others are put in line while it runs the first.
    busy.room = 2;
    busy.settle(&scene).await?;
    let own = [
        scene.enqueue("a", rates()?).await?,
        scene.enqueue("a", rates()?).await?,
    ];
    worker.settle(&scene).await?;
    // A token every five seconds, and its owner has no room for it.
    busy.room = 0;
    scene.at(5.5);
    let turn = worker.turn(&scene, Vec::new(), &Explicit).await?;
    assert!(turn.started.is_empty());
    let at = turn.next_at.ok_or("nobody would look again")?;
    assert!(at > turn.now && at <= turn.now.plus(Duration::from_secs(1)));
    harness.clock().set(at);
    assert_eq!(worker.settle(&scene).await?, own[..1]);
    scene.at(20.0);
    assert_eq!(worker.settle(&scene).await?, own[1..]);
    Ok(())
}

/// R41, R43: the lanes of a retired kind, more of them than a turn reads, hold up nobody.
pub async fn lanes_that_nobody_can_run_hold_up_nobody(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut retired = scene.worker(&["retired"]).await?;
    retired.fetch = 500;
    let rates = || rate("r", 1, 10, Style::Sliding, Mode::Wait);
    let mut jobs = Vec::new();
    for number in 0..200 {
        let explicit = both(mutex(&format!("k{number}"), Mode::Wait)?, rates()?);
        jobs.push(NewJob {
            explicit,
            ..new_job("retired")
        });
    }
    scene.enqueue_many(jobs).await?;
    retired.settle(&scene).await?;
    scene.store().deregister(retired.id).await?;

    let mut worker = scene.worker(&["a"]).await?;
    let ids = [
        scene.enqueue("a", rates()?).await?,
        scene.enqueue("a", rates()?).await?,
    ];
    for (round, id) in ids.into_iter().enumerate() {
        scene.at(10.0 * (round + 1) as f64);
        assert_eq!(worker.settle(&scene).await?, [id]);
    }
    Ok(())
}

/// R43, R44: waiting jobs of a kind that nobody could run start when a worker comes for them, before younger ones.
pub async fn a_kind_that_gets_its_first_worker_starts_at_once(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut gone = scene.worker(&["b"]).await?;
    let first = scene.enqueue("b", mutex("k", Mode::Wait)?).await?;
    let waits = scene.enqueue("b", mutex("k", Mode::Wait)?).await?;
    gone.settle(&scene).await?;
    scene.store().deregister(gone.id).await?;
    let mut worker = scene.worker(&["a"]).await?;
    let holder = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    let behind = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    assert_eq!(
        worker.settle(&scene).await?,
        [holder],
        "nobody can run the older ones"
    );

    let mut back = scene.worker(&["b"]).await?;
    back.settle(&scene).await?;
    worker.end(&scene, holder, End::Succeeded).await?;
    assert_eq!(back.settle(&scene).await?, [first]);
    assert_eq!(back.end(&scene, first, End::Succeeded).await?, [waits]);
    back.end(&scene, waits, End::Succeeded).await?;
    assert_eq!(worker.settle(&scene).await?, [behind]);
    Ok(())
}

/// R44: nothing else has to happen for them to start.
pub async fn waiters_that_nobody_could_run_start_when_somebody_comes(
    harness: &dyn Harness,
) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let holder = scene.enqueue("a", mutex("k", Mode::Wait)?).await?;
    worker.settle(&scene).await?;
    let mut gone = scene.worker(&["b"]).await?;
    let waits = scene.enqueue("b", mutex("k", Mode::Wait)?).await?;
    gone.settle(&scene).await?;
    scene.store().deregister(gone.id).await?;
    worker.settle(&scene).await?;
    worker.end(&scene, holder, End::Succeeded).await?;
    let mut back = scene.worker(&["b"]).await?;
    back.settle(&scene).await?;
    assert_eq!(scene.state(waits).await?, JobState::Processing);
    Ok(())
}

/// R47: where room is short, waiters that may go and jobs without policies are taken in one order.
pub async fn waiters_and_policy_free_jobs_are_taken_in_one_order(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    worker.room = 1;
    let rates = || rate("r", 1, 10, Style::Sliding, Mode::Wait);
    let mut last = scene.enqueue("a", rates()?).await?;
    worker.settle(&scene).await?;
    let waiter = scene.enqueue("a", rates()?).await?;
    worker.room = 2;
    worker.settle(&scene).await?;
    worker.room = 1;
    scene.at(1.0);
    let younger = scene.enqueue("a", free()).await?;
    let urgent = scene.enqueue_with_priority("a", 1, free()).await?;
    scene.at(10.0);
    for next in [urgent, waiter, younger] {
        assert_eq!(worker.end(&scene, last, End::Succeeded).await?, [next]);
        last = next;
    }
    Ok(())
}

/// R43: a waiter that may go is not passed by a younger job because the turn had no room to judge all that are due: those it judged may
/// turn out to wait for another key.
pub async fn a_small_room_is_not_given_to_younger_jobs(harness: &dyn Harness) -> Outcome {
    let scene = Scene::new(harness);
    let mut worker = scene.worker(&["a"]).await?;
    let mut other = scene.worker(&["b"]).await?;
    let rates = |key| rate(key, 1, 10, Style::Sliding, Mode::Wait);
    // The first in line of `r` will find its mutex taken, the second may go.
    let holds_k = scene.enqueue("b", mutex("k", Mode::Wait)?).await?;
    let spends_r = scene.enqueue("b", rates("r")?).await?;
    let spends_q = scene.enqueue("b", rates("q")?).await?;
    assert_eq!(other.settle(&scene).await?, [holds_k, spends_r, spends_q]);
    other.end(&scene, holds_k, End::Succeeded).await?;
    let stuck = scene
        .enqueue("a", both(mutex("k", Mode::Wait)?, rates("r")?))
        .await?;
    let waits = scene.enqueue("a", rates("q")?).await?;
    assert!(worker.settle(&scene).await?.is_empty());
    scene.at(9.0);
    scene.enqueue("b", mutex("k", Mode::Skip)?).await?;
    other.settle(&scene).await?;
    scene.at(10.0);
    let younger = scene.enqueue("a", free()).await?;
    worker.room = 1;
    assert_eq!(worker.settle(&scene).await?, [waits]);
    assert_eq!(scene.state(stuck).await?, JobState::Waiting);
    assert_eq!(worker.end(&scene, waits, End::Succeeded).await?, [younger]);
    Ok(())
}
