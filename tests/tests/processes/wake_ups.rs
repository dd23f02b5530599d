//! R44: what one process does starts what waits in another one.

use std::time::Duration;

use warp_runtime::JobId;
use warp_runtime::prelude::*;
use warp_runtime::storage::clock::{Clock, SystemClock};
use warp_runtime::storage::model::Event;
use warp_tests::processes::{Chance, Judge, Office, Outcome, Transfer, WorkerProcess};

use crate::{setting, stop};

in_each_place! {
    an_idle_process_learns_what_another_one_did,
    a_slot_freed_while_somebody_decides_to_wait_is_not_missed,
}

/// R44: what is enqueued here starts in an idle process there, and what is freed there starts a job that waits for it elsewhere.
async fn an_idle_process_learns_what_another_one_did(office: &Office) -> Outcome {
    let processes = here_and_there(office);
    let mut done = 0;
    for _ in 0..20 {
        for queue in ["here", "there"] {
            transfer(office, queue).await?;
            done += 1;
        }
        office
            .until(async || Ok(office.succeeded().await? >= done))
            .await?;
    }
    stop(processes).await;
    let judge = Judge::new(&office.notebook.read());
    assert_eq!(judge.most_at_once("account:0"), 1);
    Ok(())
}

/// S08: a job ends at the very moment at which another process finds its slot taken. `WARP_TEST_ROUNDS` sets how often.
#[expect(clippy::print_stdout, reason = "shown with `--nocapture`")]
async fn a_slot_freed_while_somebody_decides_to_wait_is_not_missed(office: &Office) -> Outcome {
    let rounds = setting("WARP_TEST_ROUNDS", 50)?;
    let mut chance = Chance::from_env();
    let processes = here_and_there(office);
    let mut waited = 0;
    for round in 1..=rounds {
        transfer(office, "here").await?;
        // The handler takes 10 ms, and what comes before it about as long.
        SystemClock.sleep(chance.within_millis(50)).await;
        let second = transfer(office, "there").await?;
        office
            .until(async || Ok(office.succeeded().await? == u64::from(round) * 2))
            .await?;
        let log = office.storage.log(second).await?;
        let has_waited = log
            .iter()
            .any(|line| matches!(line.event, Event::Waiting(_)));
        waited += u32::from(has_waited);
    }
    println!("it waited in {waited} of {rounds} rounds");
    stop(processes).await;
    let judge = Judge::new(&office.notebook.read());
    assert_eq!(judge.most_at_once("account:0"), 1);
    Ok(())
}

/// Two processes, each with a queue of its own. Their lease is so long that nobody looks by himself before the watchdog does.
fn here_and_there(office: &Office) -> Vec<WorkerProcess> {
    let lease = Duration::from_hours(1);
    let start = |name| office.start(name, name, lease);
    ["here", "there"].map(start).into()
}

async fn transfer(office: &Office, queue: &str) -> Outcome<JobId> {
    let parameters = JobParameters::new().with_queue(queue);
    let transfer = Transfer { account: 0 };
    Ok(office.publisher.enqueue_with(transfer, parameters).await?)
}
