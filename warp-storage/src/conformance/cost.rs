//! What waiting costs, counted (R45, S07, S17).

use std::time::Duration;

use warp_policy::precedence::ExplicitPolicies;
use warp_policy::{Mode, Style};

use super::policies::{both, mutex, rate};
use super::scene::new_job;
use super::{Harness, Outcome, Scene};
use crate::model::NewJob;

const JOBS: usize = 1_000;

/// R45: a mutex and a rate that bind by turns. However many windows pass, each row is written four times, enqueue and end included, and
/// what is judged goes by the starts.
pub async fn two_policies_that_bind_by_turns_cost_four_writes_a_job(
    harness: &dyn Harness,
) -> Outcome {
    let policies = both(
        mutex("acct-7", Mode::Wait)?,
        rate("partner", 3, 60, Style::Sliding, Mode::Wait)?,
    );
    let starts = costs_little(harness, policies, Duration::from_secs(7), 4 * JOBS as u64).await?;
    for (number, start) in starts.into_iter().enumerate() {
        let expected = 60.0 * (number / 3) as f64 + 7.0 * (number % 3) as f64;
        assert!((start - expected).abs() < 1e-6, "{number}: {start}");
    }
    Ok(())
}

/// R45: a backlog behind one rate. Each window wakes as many as it has tokens for.
pub async fn a_backlog_of_one_rate_costs_four_writes_a_job(harness: &dyn Harness) -> Outcome {
    let policies = rate("api", 10, 60, Style::Sliding, Mode::Wait)?;
    let starts = costs_little(harness, policies, Duration::ZERO, 3 * JOBS as u64).await?;
    for (number, start) in starts.into_iter().enumerate() {
        let expected = 60.0 * (number / 10) as f64;
        assert!((start - expected).abs() < 1e-6, "{number}: {start}");
    }
    Ok(())
}

/// Works off [`JOBS`] of one policy. Returns the instants of their starts.
async fn costs_little(
    harness: &dyn Harness,
    explicit: ExplicitPolicies,
    takes: Duration,
    most_judgements: u64,
) -> Result<Vec<f64>, Box<dyn std::error::Error>> {
    let scene = Scene::new(harness);
    let job = NewJob {
        explicit,
        ..new_job("a")
    };
    let ids = scene.enqueue_many(vec![job; JOBS]).await?;
    let mut worker = scene.worker(&["a"]).await?;
    worker.room = 20;
    worker.fetch = 500;
    let before = harness.judgements().await;
    let starts = worker.work_off(&scene, takes).await?;
    let started: Vec<_> = starts.iter().map(|&(id, _)| id).collect();
    assert_eq!(started, ids);
    if let (Some(before), Some(after)) = (before, harness.judgements().await) {
        let judged = after - before;
        assert!(judged <= most_judgements, "{judged} judgements");
    } else {
        harness.skipped("how much is judged");
    }
    for id in ids {
        let Some(writes) = harness.job_writes(id).await else {
            harness.skipped("how often a row is written");
            break;
        };
        assert!(writes <= 4, "job {id} was written {writes} times");
    }
    Ok(starts.into_iter().map(|(_, at)| at).collect())
}
