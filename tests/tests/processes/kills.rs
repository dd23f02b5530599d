//! R80, R82, R84: processes that are killed.

use warp_runtime::prelude::*;
use warp_runtime::storage::model::JobState;
use warp_runtime::{JobId, Timestamp};
use warp_tests::processes::{CloseBooks, Errand, Note, Office, Outcome};

use crate::{LEASE, setting, start_four, stop};

in_each_place! {
    a_killed_process_exceeds_no_limit_and_loses_no_job,
    processes_that_are_killed_again_and_again_lose_no_job,
    slots_of_a_killed_process_come_back_after_one_lease,
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

/// S02: what a killed process held comes back when its lease has run out, not before and not much later. A job that was on its last attempt
/// fails, and says why.
async fn slots_of_a_killed_process_come_back_after_one_lease(office: &Office) -> Outcome {
    let two_at_once = || JobParameters::new().with_semaphore("api", 2);
    let publisher = &office.publisher;
    let held = publisher
        .enqueue_all_with(vec![Errand; 2], two_at_once())
        .await?;
    let killed = office.start("killed", "default", LEASE);
    office.until_begun(&held).await?;
    // It was lost with two workers before.
    let last_attempt = held[1];
    let lost_twice =
        format!("UPDATE warp_jobs SET lost = 2 WHERE id = {last_attempt} RETURNING id");
    office.ask(&lost_twice).await?;
    let waiting = publisher
        .enqueue_all_with(vec![Errand; 2], two_at_once())
        .await?;
    let heir = office.start("heir", "default", LEASE);
    office.until_all_are(&waiting, JobState::Waiting).await?;
    // Nobody takes others for dead before it has been there for a lease itself (R86). It is to look for them before this lease ends.
    office.until_there(std::slice::from_ref(&heir)).await?;
    let looks_from = office.seen("heir").await?.plus(LEASE / 2);
    office
        .until(async || Ok(office.seen("killed").await? >= looks_from))
        .await?;

    killed.kill(&office.notebook).await;
    let last_seen = office.seen("killed").await?;
    office.until_begun(&waiting).await?;
    office.notebook.call_back();
    office
        .until(async || Ok(office.ended().await? == 4))
        .await?;
    stop(vec![heir]).await;
    let ids: Vec<JobId> = held.iter().chain(&waiting).copied().collect();
    let judge = office.is_in_order(&ids, &["killed".to_owned()]).await?;
    for start in starts_in(office, "heir") {
        let after = start.since(last_seen);
        assert!(start >= last_seen.plus(LEASE), "{after:?} is too early");
        assert!(after < LEASE * 5, "{after:?} is too late");
    }
    assert_eq!(judge.most_at_once("errand"), 2);
    assert_eq!(judge.runs.get(&held[0]), Some(&2));
    let failed = office.job(last_attempt).await?;
    assert_eq!((failed.state, failed.attempts), (JobState::Failed, 0));
    let reason = failed.error.unwrap_or_default();
    assert!(reason.contains("its worker died"), "{reason}");
    Ok(())
}

/// The admission instants of what began in a process.
fn starts_in(office: &Office, name: &str) -> Vec<Timestamp> {
    let notes = office.notebook.read().into_iter();
    let starts = notes.filter_map(|note| match note {
        Note::Began {
            process,
            admitted_at,
            ..
        } if process == name => Some(admitted_at),
        _ => None,
    });
    starts.collect()
}
