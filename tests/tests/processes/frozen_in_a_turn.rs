//! R86: processes that are frozen inside a turn.

use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;
use warp_runtime::prelude::*;
use warp_runtime::storage::clock::{Clock, SystemClock};
use warp_runtime::storage::model::JobState;
use warp_runtime::{JobId, Timestamp};
use warp_tests::processes::{
    Errand, Free, Line, Note, Office, Outcome, Shift, Transfer, Trouble, WorkerProcess,
};

use crate::{LEASE, WATCHDOG, setting, start_four, stop};

/// The lease of the process that is frozen. A sixth of it is long enough to see what goes on meanwhile.
const LONG_LEASE: Duration = LEASE.saturating_mul(2);

in_one_file! {
    a_process_frozen_inside_a_write_stops_the_file_and_does_no_harm,
}

on_one_server! {
    what_a_process_frozen_before_its_commit_has_locked_is_free_long_before_its_lease_ends,
    a_process_frozen_before_its_transaction_finds_itself_dead_in_it,
}

/// A process that is frozen inside a write stops the file for all, here for longer than their leases. Then they go on, and nobody takes
/// anybody for dead.
async fn a_process_frozen_inside_a_write_stops_the_file_and_does_no_harm(
    office: &Office,
) -> Outcome {
    let mut ids = office.enqueue(setting("WARP_TEST_JOBS", 400)?).await?;
    let processes = start_four(office);
    // One that begins while the file stands still gives up: it is not registered yet.
    office.until_there(&processes).await?;
    let sleeper = &processes[0];
    office.until_begun(&ids[..1]).await?;
    sleeper.freeze().await;
    while !stands_still(office).await? {
        sleeper.thaw().await;
        ids.extend(office.enqueue(20).await?);
        sleeper.freeze().await;
    }
    let all = ids.len() as u64;
    let ended = office.ended().await?;
    SystemClock.sleep(LEASE * 4 / 3).await;
    assert_eq!(office.ended().await?, ended);
    sleeper.thaw().await;
    office
        .until(async || Ok(office.ended().await? == all))
        .await?;
    stop(processes).await;
    office.is_in_order(&ids, &[]).await?;
    Ok(())
}

/// Whether somebody has the write lock and nothing is written meanwhile: others that are busy may have it all the time, too.
async fn stands_still(office: &Office) -> Outcome<bool> {
    let ended = office.ended().await?;
    Ok(office.place.is_held_up().await? && office.ended().await? == ended)
}

/// A process is frozen when it has written all of a turn and not committed it. It holds up nothing but the key that it has locked, and that
/// until the server ends its transaction.
async fn what_a_process_frozen_before_its_commit_has_locked_is_free_long_before_its_lease_ends(
    office: &Office,
) -> Outcome {
    let frozen = Frozen::at(office, "COMMIT\0").await?;
    let locked = enqueue(office, "there", Transfer { account: 1 }).await?;
    let free = [
        enqueue(office, "there", Transfer { account: 2 }).await?,
        enqueue(office, "there", Free).await?,
    ];
    office.until_all_are(&free, JobState::Succeeded).await?;
    assert!(office.notebook.begun(locked).is_empty());
    office.until_all_are(&[locked], JobState::Succeeded).await?;
    let started = office.job(locked).await?.admitted_at;
    assert!(started < Some(frozen.last_seen.plus(LONG_LEASE)));
    frozen.comes_back(office, &[locked, free[0], free[1]]).await
}

/// A process is frozen between the look before a turn and its transaction, and declared dead. After the thaw it goes on with the turn, before
/// its next heartbeat.
async fn a_process_frozen_before_its_transaction_finds_itself_dead_in_it(
    office: &Office,
) -> Outcome {
    let frozen = Frozen::at(office, "BEGIN").await?;
    let same_key = enqueue(office, "there", Transfer { account: 1 }).await?;
    office
        .until_all_are(&[same_key], JobState::Succeeded)
        .await?;
    frozen.comes_back(office, &[same_key]).await
}

async fn enqueue<J: Job>(office: &Office, queue: &str, job: J) -> Outcome<JobId> {
    let parameters = JobParameters::new().with_queue(queue);
    Ok(office.publisher.enqueue_with(job, parameters).await?)
}

/// A process that serves the queue `here`, runs an errand, and was frozen in the turn that starts a transfer of account 1. Another one serves
/// `there`.
struct Frozen {
    sleeper: WorkerProcess,
    other: WorkerProcess,
    errand: JobId,
    transfer: JobId,
    last_seen: Timestamp,
    goes_on: oneshot::Sender<()>,
    _line: Line,
}

impl Frozen {
    /// Freezes it where it sends what contains `text`, which the server does not see before the thaw.
    async fn at(office: &Office, text: &str) -> Outcome<Self> {
        let (line, place) = office.place.over_a_line().await?;
        let shift = office.shift("sleeper", "here", LONG_LEASE);
        let sleeper = office.begin(&Shift { place, ..shift });
        let errand = enqueue(office, "here", Errand).await?;
        office.until_begun(&[errand]).await?;
        let other = office.start("other", "there", LEASE);
        office.until_there(std::slice::from_ref(&other)).await?;
        let (goes_on, released) = oneshot::channel();
        let is_held = line.strike(text, Trouble::HeldUntil(released));
        let transfer = enqueue(office, "here", Transfer { account: 1 }).await?;
        timeout(WATCHDOG, is_held).await??;
        sleeper.freeze().await;
        office.notebook.write(&Note::Gone {
            process: "sleeper".to_owned(),
        });
        Ok(Self {
            last_seen: office.seen("sleeper").await?,
            sleeper,
            other,
            errand,
            transfer,
            goes_on,
            _line: line,
        })
    }

    /// Others take over what it had, the errand after its lease. What it brings after the thaw is refused, and it works again.
    async fn comes_back(self, office: &Office, others: &[JobId]) -> Outcome {
        let heir = office.start("heir", "here", LEASE);
        let taken_over = async || Ok(office.notebook.begun(self.errand) == ["sleeper", "heir"]);
        office.until(taken_over).await?;
        office.notebook.call_back();
        let _ = self.goes_on.send(());
        self.sleeper.thaw().await;
        let taken_over = [self.errand, self.transfer];
        office
            .until_all_are(&taken_over, JobState::Succeeded)
            .await?;
        stop(vec![heir, self.other]).await;

        let last = enqueue(office, "here", Free).await?;
        office.until_all_are(&[last], JobState::Succeeded).await?;
        assert_eq!(office.notebook.begun(last), ["sleeper"]);
        stop(vec![self.sleeper]).await;
        let mut ids = [&taken_over[..], others, &[last]].concat();
        ids.sort_unstable();
        let judge = office.is_in_order(&ids, &["sleeper".to_owned()]).await?;
        assert_eq!(judge.runs.get(&self.errand), Some(&2));
        assert_eq!(judge.runs.get(&self.transfer), Some(&1));
        Ok(())
    }
}
