//! R87: programs of two versions on one store.

use warp_runtime::storage::model::JobState;
use warp_tests::processes::{Errand, Free, Note, Office, Outcome, Shift, Version, WorkerProcess};

use crate::{LEASE, setting, stop};

in_each_place! {
    a_deploy_takes_over_one_process_after_another,
    a_program_that_is_no_longer_served_does_not_begin,
}

/// The newer program migrates while the older one works; both work on, and an older one may still begin. Then the older ones are replaced one
/// by one. No limit is exceeded, nothing is lost, and everything is recorded once.
async fn a_deploy_takes_over_one_process_after_another(office: &Office) -> Outcome {
    let count = setting("WARP_TEST_JOBS", 400)?;
    let known = schema(office).await?;
    let part = async || office.enqueue(count / 4).await;
    let mut ids = part().await?;
    let mut older = vec![begin(office, "old 1", Version::Present)];
    older.push(begin(office, "old 2", Version::Present));
    office.until_begun(&ids[..1]).await?;

    let mut newer = vec![begin(office, "new 1", Version::Next)];
    newer.push(begin(office, "new 2", Version::Next));
    office.until_there(&newer).await?;
    assert_eq!(schema(office).await?, known + 1);
    let migrated_at = office.notebook.read().len();
    older.push(begin(office, "old 3", Version::Present));
    office.until_there(&older).await?;

    for (number, process) in older.into_iter().enumerate() {
        let name = process.name.clone();
        ids.extend(part().await?);
        let works_on = async || Ok(begun_since(office, migrated_at, &name) > 0);
        office.until(works_on).await?;
        stop(vec![process]).await;
        newer.push(begin(office, &format!("new {}", number + 3), Version::Next));
    }
    let all = ids.len() as u64;
    office
        .until(async || Ok(office.ended().await? >= all))
        .await?;
    stop(newer).await;
    assert!(begun_since(office, migrated_at, "new 1") > 0);
    let judge = office.is_in_order(&ids, &[]).await?;
    assert!(judge.runs.values().all(|&runs| runs == 1));
    assert_eq!(schema(office).await?, known + 1, "nobody migrates back");
    Ok(())
}

/// Where the newer schema no longer serves the older program, one that runs ends its work, since that is looked at when a store is opened; one
/// that begins is refused, with the versions and what to do, and changes nothing.
async fn a_program_that_is_no_longer_served_does_not_begin(office: &Office) -> Outcome {
    let known = schema(office).await?;
    let older = begin(office, "older", Version::Present);
    let errand = office.publisher.enqueue(Errand).await?;
    office.until_begun(&[errand]).await?;
    let newer = begin(office, "newer", Version::NextAlone);
    office.until_there(std::slice::from_ref(&newer)).await?;

    let late = shift(office, "late", Version::Present);
    let refusal = office.refusal(&late).await?;
    let says = format!(" {} on; this program knows {known}: update it", known + 1);
    assert!(refusal.contains(&says), "{refusal}");
    assert_eq!(office.seen("late").await?.as_micros(), 0);

    office.notebook.call_back();
    office.until_all_are(&[errand], JobState::Succeeded).await?;
    stop(vec![older]).await;
    let free = office.publisher.enqueue(Free).await?;
    office.until_all_are(&[free], JobState::Succeeded).await?;
    stop(vec![newer]).await;
    office.is_in_order(&[errand, free], &[]).await?;
    Ok(())
}

fn shift(office: &Office, process: &str, version: Version) -> Shift {
    let shift = office.shift(process, "default", LEASE);
    Shift { version, ..shift }
}

fn begin(office: &Office, process: &str, version: Version) -> WorkerProcess {
    office.begin(&shift(office, process, version))
}

async fn schema(office: &Office) -> Outcome<i64> {
    let schema = "SELECT CAST(schema AS bigint) FROM warp_store";
    office.ask(schema).await
}

/// How many handlers have begun in a process, those in the first notes left out.
fn begun_since(office: &Office, first: usize, name: &str) -> usize {
    let notes = office.notebook.read().into_iter().skip(first);
    notes
        .filter(|note| matches!(note, Note::Began { process, .. } if process == name))
        .count()
}
