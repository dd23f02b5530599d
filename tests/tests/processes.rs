//! R80–R86: worker processes on one SQLite file, or on a PostgreSQL server, killed and frozen, judged by what the handlers write into a
//! notebook.
//!
//! `WARP_TEST_JOBS` sets how many jobs there are in a test, `WARP_TEST_KILLS` how often the second one kills.

use std::time::Duration;

use warp_runtime::prelude::*;
use warp_runtime::storage::clock::{Clock, SystemClock};
use warp_runtime::storage::model::JobState;
use warp_tests::processes::{
    CloseBooks, Errand, Free, HAULS, Haul, Judge, Note, Office, Outcome, Transfer, WorkerProcess,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_worker-process");

/// Long enough that a busy machine is not taken for a dead process.
const LEASE: Duration = Duration::from_secs(6);

macro_rules! in_each_place {
    ($($test:ident),+ $(,)?) => {
        mod on_one_file {
            use super::*;

            $(#[tokio::test(flavor = "multi_thread")]
            async fn $test() -> Outcome {
                let office = Office::in_a_file(PROGRAM).await?;
                super::$test(&office).await?;
                office.close().await
            })+
        }

        mod on_one_server {
            use super::*;

            $(#[tokio::test(flavor = "multi_thread")]
            async fn $test() -> Outcome {
                let Some(office) = Office::on_a_server(PROGRAM, stringify!($test)).await? else {
                    return Ok(());
                };
                super::$test(&office).await?;
                office.close().await
            })+
        }
    };
}

in_each_place! {
    a_killed_process_exceeds_no_limit_and_loses_no_job,
    processes_that_are_killed_again_and_again_lose_no_job,
    a_frozen_process_is_taken_for_dead_and_comes_back_as_another_worker,
    short_freezes_do_no_harm,
    an_idle_process_learns_what_another_one_did,
    many_that_start_at_once_reach_a_limit_and_do_not_exceed_it,
}

/// A number from the environment.
fn setting(name: &str, by_default: u32) -> Outcome<u32> {
    Ok(std::env::var(name).map_or(Ok(by_default), |text| text.parse())?)
}

fn start_four(office: &Office) -> Vec<WorkerProcess> {
    let names = ["north", "east", "south", "west"];
    let start = |name: &&str| office.start(name, "default", LEASE);
    names.iter().map(start).collect()
}

/// Shuts processes down, and prints what the store cost them.
#[expect(clippy::print_stdout, reason = "shown with `--nocapture`")]
async fn stop(processes: Vec<WorkerProcess>) {
    let mut longest_lock_wait = Duration::ZERO;
    for process in processes {
        let name = process.name.clone();
        let costs = process.stop().await;
        println!("{name}: {costs:?}");
        longest_lock_wait = longest_lock_wait.max(costs.longest_lock_wait);
    }
    println!("the longest wait for the write lock: {longest_lock_wait:?}");
}

/// Four processes, one of which is killed in the middle and replaced: no limit is exceeded, no job is lost, none is recorded twice, and nobody
/// but the killed one is taken for dead.
async fn a_killed_process_exceeds_no_limit_and_loses_no_job(office: &Office) -> Outcome {
    let first = JobParameters::new().with_priority(1);
    let books = office.publisher.enqueue_with(CloseBooks, first).await?;
    let mut ids = vec![books];
    ids.extend(office.enqueue(setting("WARP_TEST_JOBS", 400)? - 1).await?);
    let all = ids.len() as u64;
    let mut processes = start_four(office);
    let in_the_middle = async || {
        let is_half = office.succeeded().await? * 2 >= all;
        Ok(is_half && !office.notebook.begun(books).is_empty())
    };
    office.until(in_the_middle).await?;

    let name = office.notebook.begun(books).remove(0);
    let index = processes.iter().position(|process| process.name == name);
    let killed = processes.swap_remove(index.ok_or("an unknown process runs it")?);
    killed.kill(&office.notebook).await;
    processes.push(office.start("replacement", "default", LEASE));
    office
        .until(async || Ok(office.ended().await? >= all))
        .await?;
    stop(processes).await;
    let judge = office.is_in_order(&ids, &[name]).await?;
    assert_eq!(judge.runs.get(&books), Some(&2));
    Ok(())
}

/// Kills again and again, at whatever the processes are just doing.
async fn processes_that_are_killed_again_and_again_lose_no_job(office: &Office) -> Outcome {
    let count = setting("WARP_TEST_JOBS", 400)?;
    let kills = setting("WARP_TEST_KILLS", 5)?;
    let ids = office.enqueue(count).await?;
    let mut processes = start_four(office);
    let mut killed = Vec::new();
    for kill in 0..kills {
        let so_many = u64::from(count * (kill + 1) / (kills + 2));
        office
            .until(async || Ok(office.ended().await? >= so_many))
            .await?;
        let victim = processes.remove(kill as usize * 7 % 4);
        killed.push(victim.name.clone());
        victim.kill(&office.notebook).await;
        processes.push(office.start(&format!("replacement {kill}"), "default", LEASE));
    }
    let all_have_ended = async || Ok(office.ended().await? >= u64::from(count));
    office.until(all_have_ended).await?;
    stop(processes).await;
    office.is_in_order(&ids, &killed).await?;
    Ok(())
}

/// A process that is frozen for longer than its lease loses its job to another. What it does after the thaw changes nothing, and it works
/// again, as another worker.
async fn a_frozen_process_is_taken_for_dead_and_comes_back_as_another_worker(
    office: &Office,
) -> Outcome {
    let sleeper = office.start("sleeper", "default", LEASE);
    let errand = office.publisher.enqueue(Errand).await?;
    let begun = async |times| Ok(office.notebook.begun(errand).len() >= times);
    office.until(async || begun(1).await).await?;
    sleeper.freeze().await;
    office.notebook.write(&Note::Gone {
        process: "sleeper".to_owned(),
    });
    let other = office.start("other", "default", LEASE);
    office.until(async || begun(2).await).await?;
    office.notebook.call_back();
    sleeper.thaw().await;
    office
        .until(async || Ok(office.ended().await? >= 1))
        .await?;
    stop(vec![other]).await;

    let free = office.publisher.enqueue(Free).await?;
    office
        .until(async || Ok(office.ended().await? >= 2))
        .await?;
    assert_eq!(office.notebook.begun(free), ["sleeper"]);
    stop(vec![sleeper]).await;
    assert_eq!(office.job(errand).await?.state, JobState::Succeeded);
    let judge = office
        .is_in_order(&[errand, free], &["sleeper".to_owned()])
        .await?;
    assert_eq!(judge.runs.get(&errand), Some(&2));
    Ok(())
}

/// Processes that stand still for a moment, in the middle of a write or not, hold up others for that long and do no harm.
async fn short_freezes_do_no_harm(office: &Office) -> Outcome {
    let count = setting("WARP_TEST_JOBS", 400)?;
    let ids = office.enqueue(count).await?;
    let processes = start_four(office);
    for freeze in 0..20 {
        let so_many = u64::from(count * freeze / 25);
        office
            .until(async || Ok(office.ended().await? >= so_many))
            .await?;
        let process = &processes[freeze as usize * 3 % 4];
        process.freeze().await;
        SystemClock.sleep(LEASE / 60).await;
        process.thaw().await;
    }
    let all_have_ended = async || Ok(office.ended().await? >= u64::from(count));
    office.until(all_have_ended).await?;
    stop(processes).await;
    office.is_in_order(&ids, &[]).await?;
    Ok(())
}

/// R44: what is enqueued here starts in an idle process there, and what is freed there starts a job that waits for it elsewhere.
async fn an_idle_process_learns_what_another_one_did(office: &Office) -> Outcome {
    // So long that nobody looks by himself before the watchdog does.
    let lease = Duration::from_hours(1);
    let processes = ["here", "there"].map(|name| office.start(name, name, lease));
    let in_queue = |queue: &str| JobParameters::new().with_queue(queue);
    let mut done = 0;
    for _ in 0..20 {
        for queue in ["here", "there"] {
            let transfer = Transfer { account: 0 };
            let parameters = in_queue(queue);
            office.publisher.enqueue_with(transfer, parameters).await?;
            done += 1;
        }
        office
            .until(async || Ok(office.succeeded().await? >= done))
            .await?;
    }
    stop(processes.into()).await;
    let judge = Judge::new(&office.notebook.read());
    assert_eq!(judge.most_at_once("account:0"), 1);
    Ok(())
}

/// S04: what is there before anybody starts, on a key that has no row yet. The limit is reached exactly.
async fn many_that_start_at_once_reach_a_limit_and_do_not_exceed_it(office: &Office) -> Outcome {
    let count = setting("WARP_TEST_JOBS", 400)? / 4;
    let mut ids = Vec::new();
    for limit in [5, 1] {
        let key = JobParameters::new().with_semaphore(HAULS, limit);
        let hauls = (0..count * limit / 5).map(|_| Haul);
        ids.extend(office.publisher.enqueue_all_with(hauls, key).await?);
        let notes = office.notebook.read().len();
        let processes = start_four(office);
        let all = ids.len() as u64;
        office
            .until(async || Ok(office.ended().await? >= all))
            .await?;
        stop(processes).await;
        let judge = Judge::new(&office.notebook.read()[notes..]);
        assert_eq!(judge.most_at_once(HAULS), limit as usize);
    }
    let judge = office.is_in_order(&ids, &[]).await?;
    assert!(judge.runs.values().all(|&runs| runs == 1));
    Ok(())
}
