//! Two real sessions that meet: what one of them does while the other waits for a lock, or holds one (R50, R86).

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use sqlx::{Connection, PgConnection};
use warp_policy::precedence::ExplicitPolicies;
use warp_policy::{ConcurrencySpec, Key, Mode, RateLimitSpec, Style, Window};
use warp_storage::conformance::{Harness, Scene};
use warp_storage::model::{
    Counter, Dispatch, End, Finished, JobState, NewJob, NewWorker, Ready, Resolution, Resolver,
    Unresolved,
};
use warp_storage::{Postgres, Store, StoreError};

use crate::on_server::{OnServer, connection};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn semaphore(key: &str, limit: u32) -> Outcome<ExplicitPolicies> {
    let spec = ConcurrencySpec::semaphore(Key::new(key)?, limit)?.with_mode(Mode::Wait);
    Ok(ExplicitPolicies {
        concurrency: Some(spec),
        rate_limits: Vec::new(),
    })
}

/// Locks the row of a key, as another turn does.
async fn hold(harness: &OnServer, hand: &mut PgConnection, key: &str) -> Outcome {
    let lock = harness.here("SELECT 1 FROM warp.limiters WHERE key = $1 FOR NO KEY UPDATE");
    let rows = sqlx::query(lock)
        .bind(key.to_owned())
        .fetch_all(hand)
        .await?;
    assert_eq!(rows.len(), 1, "the key has a row");
    Ok(())
}

/// Waits until a session of the store waits for a lock.
async fn somebody_waits(hand: &mut PgConnection) -> Outcome {
    let question = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND pg_backend_pid() = ANY (pg_blocking_pids(pid))";
    loop {
        let waiting: i64 = sqlx::query_scalar(question).fetch_one(&mut *hand).await?;
        if waiting > 0 {
            return Ok(());
        }
        tokio::task::yield_now().await;
    }
}

/// R86: a key that somebody holds is left out of the turn with its jobs; the others go on.
#[tokio::test]
async fn a_key_that_is_held_holds_up_its_own_jobs_only() -> Outcome {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let scene = Scene::new(&harness);
    let mut worker = scene.worker(&["a"]).await?;
    let first = scene.enqueue("a", semaphore("k", 1)?).await?;
    assert_eq!(worker.start(&scene).await?, [first]);
    worker.end(&scene, first, End::Succeeded).await?;
    let mut hand = connection().await;
    let mut holding = hand.begin().await?;
    hold(&harness, &mut holding, "k").await?;
    let held = scene.enqueue("a", semaphore("k", 1)?).await?;
    let free = scene.enqueue("a", semaphore("m", 1)?).await?;
    assert_eq!(worker.start(&scene).await?, [free]);
    let turn = worker.turn_with(&scene, Vec::new()).await?;
    assert!(turn.started.is_empty());
    let next_at = turn.next_at.ok_or("it is to be asked for again")?;
    assert!(next_at > turn.now, "but not without a pause");
    holding.rollback().await?;
    assert_eq!(worker.start(&scene).await?, [held]);
    harness.audit().await
}

/// R86: an attempt that ended is written once its key can be had, and not before; other ends of the turn are.
#[tokio::test]
async fn an_end_whose_key_is_held_is_written_later() -> Outcome {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let scene = Scene::new(&harness);
    let mut worker = scene.worker(&["a"]).await?;
    let held = scene.enqueue("a", semaphore("k", 1)?).await?;
    let free = scene.enqueue("a", semaphore("m", 1)?).await?;
    assert_eq!(worker.start(&scene).await?, [held, free]);
    let waits = scene.enqueue("a", semaphore("k", 1)?).await?;
    worker.settle(&scene).await?;
    let mut hand = connection().await;
    let mut holding = hand.begin().await?;
    hold(&harness, &mut holding, "k").await?;
    let ended = vec![
        worker.take_out(held, End::Succeeded)?,
        worker.take_out(free, End::Succeeded)?,
    ];
    let turn = worker.turn_with(&scene, ended.clone()).await?;
    assert!(turn.stale.is_empty(), "{turn:?}");
    assert_eq!(turn.left, [ended[0].claim]);
    assert_eq!(
        turn.next_at,
        Some(turn.now),
        "it is to be brought again at once"
    );
    assert_eq!(scene.state(held).await?, JobState::Processing);
    assert_eq!(scene.state(free).await?, JobState::Succeeded);
    holding.rollback().await?;
    assert_eq!(worker.start(&scene).await?, [waits]);
    assert_eq!(scene.state(held).await?, JobState::Succeeded);
    harness.audit().await
}

/// R50: whoever waited for a key sees what its holder did, and counts after the wait. Also where the server's default isolation would
/// not let it.
#[tokio::test]
async fn what_was_done_while_a_key_was_awaited_is_counted() -> Outcome {
    for isolation in ["read committed", "repeatable read", "serializable"] {
        let setting = ("default_transaction_isolation", isolation);
        let Some(harness) = OnServer::with(&[setting]).await else {
            return Ok(());
        };
        let scene = Scene::new(&harness);
        let mut worker = scene.worker(&["a"]).await?;
        let first = scene.enqueue("a", semaphore("k", 1)?).await?;
        assert_eq!(worker.start(&scene).await?, [first]);
        let mut waiting = Vec::new();
        for _ in 0..3 {
            waiting.push(scene.enqueue("a", semaphore("k", 2)?).await?);
        }
        // One fits beside the first.
        assert_eq!(worker.settle(&scene).await?, [waiting[0]]);
        let mut hand = connection().await;
        let mut holding = hand.begin().await?;
        hold(&harness, &mut holding, "k").await?;
        let take = "INSERT INTO warp.slots (family, key, job, claim) VALUES ('concurrency', 'k', 1000000, 1000000)";
        sqlx::raw_sql(harness.here(take))
            .execute(&mut *holding)
            .await?;
        let finished = vec![
            worker.take_out(first, End::Succeeded)?,
            worker.take_out(waiting[0], End::Succeeded)?,
        ];
        let turn = worker.turn_with(&scene, finished);
        let commit = async {
            somebody_waits(&mut holding).await?;
            holding.commit().await?;
            Outcome::Ok(())
        };
        let (turn, committed) = tokio::join!(turn, commit);
        committed?;
        let mut started: Vec<_> = turn?.started.iter().map(|started| started.job).collect();
        started.extend(worker.settle(&scene).await?);
        assert_eq!(
            started,
            [waiting[1]],
            "one of two slots is taken: {isolation}"
        );
        worker.end(&scene, waiting[1], End::Succeeded).await?;
        for _ in 0..10 {
            scene.store().heartbeat(worker.id).await?;
        }
    }
    Ok(())
}

/// A limiter that is forgotten while a turn wants it is not taken for a free one: it is added again, and then judged.
#[tokio::test]
async fn a_limiter_that_is_deleted_while_it_is_wanted_is_added_again() -> Outcome {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let scene = Scene::new(&harness);
    let mut worker = scene.worker(&["a"]).await?;
    let first = scene.enqueue("a", semaphore("k", 1)?).await?;
    assert_eq!(worker.start(&scene).await?, [first]);
    let next = scene.enqueue("a", semaphore("k", 1)?).await?;
    let mut hand = connection().await;
    let delete = "DELETE FROM warp.limiters WHERE key = 'k'";

    let mut deleting = hand.begin().await?;
    sqlx::raw_sql(harness.here(delete))
        .execute(&mut *deleting)
        .await?;
    let finished = vec![worker.take_out(first, End::Succeeded)?];
    let turn = worker.turn_with(&scene, finished);
    let commit = async {
        somebody_waits(&mut deleting).await?;
        deleting.commit().await?;
        Outcome::Ok(())
    };
    let (turn, committed) = tokio::join!(turn, commit);
    committed?;
    let mut started: Vec<_> = turn?.started.iter().map(|started| started.job).collect();
    started.extend(worker.settle(&scene).await?);
    assert_eq!(started, [next]);
    assert_eq!(scene.state(first).await?, JobState::Succeeded);

    let mut deleting = hand.begin().await?;
    sqlx::raw_sql(harness.here(delete))
        .execute(&mut *deleting)
        .await?;
    let last = scene.enqueue("a", semaphore("k", 2)?).await?;
    assert!(
        worker.start(&scene).await?.is_empty(),
        "it cannot be locked"
    );
    deleting.commit().await?;
    assert_eq!(worker.start(&scene).await?, [last]);
    harness.audit().await
}

/// R80: a turn of a worker that is being declared dead waits for that, and then does nothing.
#[tokio::test]
async fn a_turn_of_a_worker_that_is_being_declared_dead_does_nothing() -> Outcome {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let scene = Scene::new(&harness);
    let mut worker = scene.worker(&["a"]).await?;
    let id = scene.enqueue("a", semaphore("k", 1)?).await?;
    let mut hand = connection().await;
    let mut burying = hand.begin().await?;
    sqlx::raw_sql(harness.here("SELECT 1 FROM warp.workers FOR UPDATE"))
        .execute(&mut *burying)
        .await?;
    let turn = worker.turn_with(&scene, Vec::new());
    let bury = async {
        somebody_waits(&mut burying).await?;
        sqlx::raw_sql(harness.here("DELETE FROM warp.workers"))
            .execute(&mut *burying)
            .await?;
        burying.commit().await?;
        Outcome::Ok(())
    };
    let (turn, buried) = tokio::join!(turn, bury);
    buried?;
    let error = turn.expect_err("it is dead");
    assert!(
        matches!(error.downcast_ref(), Some(StoreError::WorkerGone { .. })),
        "{error}"
    );
    assert_eq!(scene.state(id).await?, JobState::Enqueued);
    Ok(())
}

/// R85: a turn that was given up may still be under way on the server. Whoever reads it back waits for its commit.
#[tokio::test]
async fn what_is_read_back_includes_a_turn_that_was_still_under_way() -> Outcome {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let scene = Scene::new(&harness);
    let worker = scene.worker(&["a"]).await?;
    let id = scene.enqueue("a", ExplicitPolicies::default()).await?;
    let mut hand = connection().await;
    let mut turn = hand.begin().await?;
    let begins = "SELECT 1 FROM warp.workers FOR KEY SHARE";
    sqlx::raw_sql(harness.here(begins))
        .execute(&mut *turn)
        .await?;
    let read = scene.store().read_back(worker.id, [].into());
    let goes_on = async {
        somebody_waits(&mut turn).await?;
        let starts = "UPDATE warp.jobs SET state = 'processing', worker = (SELECT id FROM warp.workers), claim = 1, admitted_at = 0";
        sqlx::raw_sql(harness.here(starts))
            .execute(&mut *turn)
            .await?;
        turn.commit().await?;
        Outcome::Ok(())
    };
    let (read, gone_on) = tokio::join!(read, goes_on);
    gone_on?;
    let started: Vec<_> = read?.started.iter().map(|started| started.job).collect();
    assert_eq!(started, [id]);
    Ok(())
}

/// R46: workers of two processes, whose jobs ask for the same keys in every order, never wait for each other in a circle.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn keys_in_opposite_orders_do_not_deadlock() -> Outcome {
    const JOBS: usize = 200;
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let url = crate::on_server::url();
    let other = Postgres::options(&url)
        .schema(&harness.schema)
        .clock(harness.clock.clone());
    let other = other.max_connections(3).open().await?;
    let orders = [
        ["a", "b", "c"],
        ["c", "b", "a"],
        ["b", "c", "a"],
        ["a", "c", "b"],
    ];
    let mut jobs = Vec::new();
    for number in 0..JOBS {
        let mut explicit = semaphore(["x", "y"][number % 2], 3)?;
        for key in orders[number % 4] {
            let window = Window::from_duration(Duration::from_secs(60))?;
            let spec = RateLimitSpec::new(Key::new(key)?, 10_000, window)?;
            let spec = spec.with_mode(Mode::Wait).with_style(Style::TokenBucket)?;
            explicit.rate_limits.push(spec);
        }
        jobs.push(NewJob {
            kind: "a".into(),
            queue: "default".into(),
            payload: "null".to_owned(),
            priority: 0,
            ready: Ready::Now,
            explicit,
        });
    }
    harness.postgres.enqueue(jobs).await?;
    let mut working = tokio::task::JoinSet::new();
    for store in [&harness.postgres, &other, &harness.postgres, &other] {
        working.spawn(work_off(store.clone(), JOBS));
    }
    while let Some(worked) = working.join_next().await {
        worked?.map_err(|error| error.to_string())?;
    }
    let counters = harness.postgres.counters().await?;
    assert_eq!(counters.get(Counter::Succeeded), JOBS as u64);
    harness.audit().await
}

/// R47: jobs without policies start once, and end once, whatever the isolation is that a statement of its own gets by default.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn jobs_without_policies_run_once_under_every_isolation() -> Outcome {
    const JOBS: usize = 100;
    for isolation in ["read committed", "repeatable read", "serializable"] {
        let setting = ("default_transaction_isolation", isolation);
        let Some(harness) = OnServer::with(&[setting]).await else {
            return Ok(());
        };
        let job = NewJob {
            kind: "a".into(),
            queue: "default".into(),
            payload: "null".to_owned(),
            priority: 0,
            ready: Ready::Now,
            explicit: ExplicitPolicies::default(),
        };
        harness.postgres.enqueue(vec![job; JOBS]).await?;
        let mut working = tokio::task::JoinSet::new();
        for _ in 0..4 {
            working.spawn(work_off(harness.postgres.clone(), JOBS));
        }
        while let Some(worked) = working.join_next().await {
            worked?.map_err(|error| error.to_string())?;
        }
        let starts = "SELECT count(*) FROM warp.log WHERE event LIKE '%started%'";
        let mut hand = harness.by_hand.lock().await;
        let starts: i64 = sqlx::query_scalar(harness.here(starts))
            .fetch_one(&mut *hand)
            .await?;
        drop(hand);
        assert_eq!(usize::try_from(starts)?, JOBS, "{isolation}");
        harness.audit().await?;
    }
    Ok(())
}

/// R47: where the default of a user's transactions is to write nothing, turns without policies are taken as those with keys are.
#[tokio::test]
async fn jobs_without_policies_run_where_reading_is_the_default() -> Outcome {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let scene = Scene::new(&harness);
    scene.enqueue("a", ExplicitPolicies::default()).await?;
    let url = format!(
        "{}?options[default_transaction_read_only]=on",
        crate::on_server::url()
    );
    let reader = Postgres::options(&url)
        .schema(&harness.schema)
        .notifications(false)
        .clock(harness.clock.clone());
    let reader = reader.max_connections(2).open().await?;
    let worked = work_off(reader, 1).await;
    worked.map_err(|error| error.to_string())?;
    harness.audit().await
}

/// Takes turns until all jobs have ended.
async fn work_off(store: Postgres, jobs: usize) -> Result<(), Box<dyn Error + Send + Sync>> {
    let new = NewWorker {
        name: "worker".to_owned(),
        queues: [Arc::from("default")].into(),
        kinds: [Arc::from("a")].into(),
        lease: Duration::from_secs(30),
    };
    let worker = store.register(new).await?;
    let mut running = Vec::new();
    for turn in 0.. {
        let mut brought: Vec<Finished> = std::mem::take(&mut running);
        let turn = Dispatch {
            worker,
            turn,
            finished: brought.clone(),
            room: 4,
            fetch: 20,
        };
        let turn = store.dispatch(turn, &Explicit).await?;
        assert!(turn.stale.is_empty() && turn.failed.is_empty(), "{turn:?}");
        brought.retain(|finished| turn.left.contains(&finished.claim));
        running.extend(brought);
        running.extend(turn.started.into_iter().map(|started| Finished {
            job: started.job,
            claim: started.claim,
            end: End::Succeeded,
        }));
        let ended = store.counters().await?.get(Counter::Succeeded);
        if running.is_empty() && ended == jobs as u64 {
            break;
        }
    }
    Ok(store.deregister(worker).await?)
}

/// Resolves to the explicit policies.
#[derive(Debug)]
struct Explicit;

impl Resolver for Explicit {
    fn resolve(&self, job: &Unresolved) -> Resolution {
        let none = &warp_policy::declaration::Declared::NONE;
        match warp_policy::precedence::resolve(&job.explicit, none, none, &()) {
            Ok(stamp) => Resolution::Stamp(stamp),
            Err(error) => Resolution::Fail(error.to_string()),
        }
    }

    fn declares_nothing(&self, _kind: &str) -> bool {
        true
    }
}

/// A turn whose future is dropped, wherever it was, did nothing, and holds up nobody.
#[tokio::test]
async fn a_turn_that_is_dropped_leaves_nothing_behind() -> Outcome {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let scene = Scene::new(&harness);
    let mut worker = scene.worker(&["a"]).await?;
    let id = scene.enqueue("a", semaphore("k", 1)?).await?;
    let mut hand = connection().await;
    let mut holding = hand.begin().await?;
    sqlx::raw_sql(harness.here("SELECT 1 FROM warp.workers FOR UPDATE"))
        .execute(&mut *holding)
        .await?;
    {
        let mut dropped = std::pin::pin!(worker.start(&scene));
        tokio::select! {
            turn = &mut dropped => panic!("it does not wait: {turn:?}"),
            waits = somebody_waits(&mut holding) => waits?,
        }
    }
    holding.rollback().await?;
    assert_eq!(scene.state(id).await?, JobState::Enqueued);
    assert_eq!(worker.start(&scene).await?, [id]);
    harness.audit().await
}
