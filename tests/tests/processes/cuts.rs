//! R82, R85: processes whose connections are cut.

use tokio::time::timeout;
use warp_tests::processes::{Free, Office, Outcome, Shift, Trouble};

use crate::{LEASE, WATCHDOG, setting, stop};

on_one_server! {
    connections_that_are_cut_at_a_commit_lose_nothing,
}

/// Connections are cut at a commit: before the server sees it, and after the server has it, but before the worker knows. `WARP_TEST_CUTS`
/// sets how often.
async fn connections_that_are_cut_at_a_commit_lose_nothing(office: &Office) -> Outcome {
    let (line, place) = office.place.over_a_line().await?;
    let processes: Vec<_> = ["north", "south"]
        .map(|name| {
            let place = place.clone();
            let shift = office.shift(name, "default", LEASE);
            office.begin(&Shift { place, ..shift })
        })
        .into();
    office.until_there(&processes).await?;
    let mut ids = Vec::new();
    for cut in 0..setting("WARP_TEST_CUTS", 20)? {
        let trouble = if cut % 2 == 0 {
            Trouble::CutBefore
        } else {
            Trouble::CutAfterCommit
        };
        let has_struck = line.strike("COMMIT\0", trouble);
        ids.extend(office.enqueue(20).await?);
        timeout(WATCHDOG, has_struck).await??;
        let next = office.publisher.enqueue(Free).await?;
        office.until_begun(&[next]).await?;
        ids.push(next);
    }
    // What they were given without an answer they find out by themselves.
    let all = ids.len() as u64;
    office
        .until(async || Ok(office.ended().await? == all))
        .await?;
    stop(processes).await;
    let judge = office.is_in_order(&ids, &[]).await?;
    assert!(judge.runs.values().all(|&runs| runs == 1));
    let lost = "SELECT coalesce(sum(lost), 0) FROM warp_jobs";
    assert_eq!(office.ask(lost).await?, 0);
    Ok(())
}
