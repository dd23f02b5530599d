//! R81, R86: processes that are frozen.

use warp_runtime::storage::clock::{Clock, SystemClock};
use warp_runtime::storage::model::JobState;
use warp_tests::processes::{Errand, Free, Note, Office, Outcome};

use crate::{LEASE, setting, start_four, stop};

in_each_place! {
    a_frozen_process_is_taken_for_dead_and_comes_back_as_another_worker,
    short_freezes_do_no_harm,
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
