//! S10, R66: a process on a machine whose clock is wrong. On a file the machine's clock is the store's, so this is about servers.

use std::time::Duration;

use warp_runtime::prelude::*;
use warp_runtime::storage::clock::{Clock, SystemClock};
use warp_runtime::storage::model::JobState;
use warp_tests::processes::{Call, Errand, HAULS, Haul, Mail, Meter, Office, Outcome, Shift, Shim};

use crate::{setting, stop};

/// Half a second beside the windows of others, too.
const AHEAD: Duration = Duration::from_millis(90_500);

const LEASE: Duration = Duration::from_secs(4);

on_one_server! {
    a_process_whose_clock_is_wrong_does_no_harm,
}

/// A clock that is 90 s ahead takes nobody's slot, and counts starts in the windows of the store. Nothing starts early or late by it.
async fn a_process_whose_clock_is_wrong_does_no_harm(office: &Office) -> Outcome {
    let Some(shim) = Shim::ahead(AHEAD, office.folder.path(), "clocks")? else {
        return Ok(());
    };
    let begun = SystemClock.now();
    let shift = office.shift("ahead", "ahead", LEASE);
    let ahead = office.begin(&Shift {
        shim: Some(shim.path),
        ..shift
    });
    let right = office.start("right", "right", LEASE);
    let processes = vec![ahead, right];
    office.until_there(&processes).await?;

    // One holds the slot for longer than a lease, and the other wants it.
    let key = |queue: &str| {
        let parameters = JobParameters::new().with_semaphore(HAULS, 1);
        parameters.with_queue(queue.to_owned())
    };
    let holds = office.publisher.enqueue_with(Errand, key("right")).await?;
    office.until_begun(&[holds]).await?;
    let wants = office.publisher.enqueue_with(Haul, key("ahead")).await?;
    office.until_all_are(&[wants], JobState::Waiting).await?;
    let until = SystemClock.now().plus(LEASE * 5 / 4);
    office
        .until(async || {
            Ok(office.seen("ahead").await? >= until && office.seen("right").await? >= until)
        })
        .await?;
    let job = office.job(holds).await?;
    assert_eq!((job.state, job.lost), (JobState::Processing, 0));
    office.notebook.call_back();
    office.until_all_are(&[wants], JobState::Succeeded).await?;

    // Both work off what every style of a rate limit lets start.
    let mut ids = vec![holds, wants];
    let count = setting("WARP_TEST_JOBS", 400)? as usize / 8;
    for queue in ["ahead", "right"] {
        let publisher = &office.publisher;
        let to = || JobParameters::new().with_queue(queue);
        ids.extend(publisher.enqueue_all_with(vec![Mail; count], to()).await?);
        ids.extend(publisher.enqueue_all_with(vec![Call; count], to()).await?);
        ids.extend(publisher.enqueue_all_with(vec![Meter; count], to()).await?);
    }
    let all = ids.len() as u64;
    office
        .until(async || Ok(office.ended().await? >= all))
        .await?;
    stop(processes).await;
    let judge = office.is_in_order(&ids, &[]).await?;
    let ended = SystemClock.now();
    for starts in judge.starts.values() {
        for &start in starts {
            assert!(begun <= start && start <= ended, "{start} by a wrong clock");
        }
    }
    Ok(())
}
