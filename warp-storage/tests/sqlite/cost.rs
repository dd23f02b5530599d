//! What a turn costs: statements are counted, `BEGIN` and `COMMIT` included, and the bytes that they answer (R45).

use std::error::Error;
use std::time::Duration;

use warp_policy::precedence::ExplicitPolicies;
use warp_policy::{ConcurrencySpec, Key, Mode, RateLimitSpec, Style, Window};
use warp_storage::conformance::{Scene, TestWorker};
use warp_storage::model::{End, NewJob, Ready};
use warp_storage::sqlite::Statistics;

use crate::in_file::InFile;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The most statements of one turn.
const MOST: u64 = 15;

fn job(kind: &str, explicit: ExplicitPolicies) -> NewJob {
    NewJob {
        kind: kind.into(),
        queue: "default".into(),
        payload: "null".to_owned(),
        priority: 0,
        ready: Ready::Now,
        explicit,
    }
}

fn mutex(key: &str, mode: Mode) -> Result<ExplicitPolicies> {
    let spec = ConcurrencySpec::mutex(Key::new(key)?).with_mode(mode);
    Ok(ExplicitPolicies {
        concurrency: Some(spec),
        rate_limits: Vec::new(),
    })
}

fn rate(key: &str, count: u32, mode: Mode) -> Result<ExplicitPolicies> {
    let window = Window::from_duration(Duration::from_secs(60))?;
    let spec = RateLimitSpec::new(Key::new(key)?, count, window)?
        .with_mode(mode)
        .with_style(Style::Sliding)?;
    Ok(ExplicitPolicies {
        concurrency: None,
        rate_limits: vec![spec],
    })
}

/// Gives every number the same length, whatever was there before, so that bytes can be compared.
async fn begin_numbers_at_a_million(harness: &InFile) -> Result<()> {
    for table in ["warp_jobs", "warp_lanes", "warp_log", "warp_workers"] {
        let statement = "INSERT INTO sqlite_sequence (name, seq) VALUES (?1, 1000000)";
        sqlx::query("DELETE FROM sqlite_sequence WHERE name = ?1")
            .bind(table)
            .execute(&mut *harness.by_hand.lock().await)
            .await?;
        sqlx::query(statement)
            .bind(table)
            .execute(&mut *harness.by_hand.lock().await)
            .await?;
    }
    Ok(())
}

/// What ten rounds of work cost: a job that runs, one that is skipped, one that waits for the first and follows it.
async fn ten_rounds(harness: &InFile, worker: &mut TestWorker) -> Result<(u64, u64)> {
    let scene = Scene::new(harness);
    let before = harness.sqlite.statistics();
    for _ in 0..10 {
        let first = scene.enqueue_as(job("a", mutex("k", Mode::Wait)?)).await?;
        assert_eq!(worker.start(&scene).await?, [first]);
        let skipped = scene.enqueue_as(job("a", mutex("k", Mode::Skip)?)).await?;
        let next = scene.enqueue_as(job("a", mutex("k", Mode::Wait)?)).await?;
        assert!(worker.start(&scene).await?.is_empty());
        assert_eq!(worker.end(&scene, first, End::Succeeded).await?, [next]);
        worker.end(&scene, next, End::Succeeded).await?;
        assert!(scene.job(skipped).await?.ended_at.is_some());
    }
    let after = harness.sqlite.statistics();
    Ok((
        after.statements - before.statements,
        after.bytes_read - before.bytes_read,
    ))
}

/// What ten rounds cost beside a backlog; it is made by the worker that then works.
async fn beside(backlog: Vec<NewJob>) -> Result<(u64, u64)> {
    let harness = InFile::new().await;
    begin_numbers_at_a_million(&harness).await?;
    let scene = Scene::new(&harness);
    let mut worker = scene.worker(&["a"]).await?;
    worker.fetch = 500;
    scene.enqueue_many(backlog).await?;
    worker.settle(&scene).await?;
    worker.fetch = 0;
    ten_rounds(&harness, &mut worker).await
}

#[tokio::test]
async fn ten_thousand_waiters_on_one_key_cost_other_work_nothing() -> Result<()> {
    let full = || rate("full", 1, Mode::Wait);
    let few = beside(vec![job("a", full()?); 2]).await?;
    let many = beside(vec![job("a", full()?); 10_001]).await?;
    assert_eq!(few, many, "statements, and bytes that they answered");
    Ok(())
}

#[tokio::test]
async fn ten_thousand_ready_jobs_of_foreign_kinds_cost_other_work_nothing() -> Result<()> {
    let none = beside(Vec::new()).await?;
    let many = beside(vec![job("foreign", ExplicitPolicies::default()); 10_000]).await?;
    assert_eq!(none, many, "statements, and bytes that they answered");
    Ok(())
}

/// One turn that ends, starts, skips and puts in line by the hundred, that wakes lanes, empties others and makes new ones, is still no more
/// than its fifteen statements; and so is every turn on the way there.
#[tokio::test]
async fn a_turn_has_at_most_fifteen_statements_whatever_its_size() -> Result<()> {
    let harness = InFile::new().await;
    let scene = Scene::new(&harness);
    let mut worker = scene.worker(&["a", "b"]).await?;
    worker.room = 400;
    worker.fetch = 500;
    let mut most = 0;
    for round in 0..6 {
        scene.at(f64::from(round) * 20.0);
        let mut jobs = Vec::new();
        for number in 0..100 {
            let kind = if number % 2 == 0 { "a" } else { "b" };
            jobs.push(job(kind, mutex(&format!("own {number}"), Mode::Wait)?));
            jobs.push(job(kind, mutex(&format!("own {number}"), Mode::Skip)?));
            jobs.push(job(kind, ExplicitPolicies::default()));
            let both = ExplicitPolicies {
                rate_limits: rate("shared", 30, Mode::Wait)?.rate_limits,
                ..mutex(&format!("of two {number}"), Mode::Wait)?
            };
            jobs.push(job(kind, both));
        }
        scene.enqueue_many(jobs).await?;
        for _ in 0..3 {
            let mut finished = Vec::new();
            for started in worker.running.clone() {
                finished.push(worker.take_out(started.job, an_end(started.job.get()))?);
            }
            let before = harness.sqlite.statistics();
            worker.turn_with(&scene, finished).await?;
            most = most.max(statements(before, harness.sqlite.statistics()));
        }
    }
    assert!(most <= MOST, "{most} statements in one turn");
    // What this test is about has happened: the largest turn has all there is in one.
    assert!(most >= 12, "{most} statements in the largest turn");
    Ok(())
}

fn an_end(number: i64) -> End {
    match number % 4 {
        0 => End::Retry {
            error: "busy".to_owned(),
            after: Duration::from_secs(1),
        },
        1 => End::Returned,
        _ => End::Succeeded,
    }
}

fn statements(before: Statistics, after: Statistics) -> u64 {
    after.statements - before.statements
}
