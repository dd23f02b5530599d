//! R80, R82, R84: processes that are killed.

use warp_runtime::prelude::*;
use warp_tests::processes::{CloseBooks, Office, Outcome};

use crate::{LEASE, setting, start_four, stop};

in_each_place! {
    a_killed_process_exceeds_no_limit_and_loses_no_job,
    processes_that_are_killed_again_and_again_lose_no_job,
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
