//! Live progress.

use std::collections::BTreeMap;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use warp_runtime::storage::model::{Job, JobFilter, JobState};
use warp_runtime::storage::{Store, StoreError};
use warp_runtime::{JobId, Sqlite};

/// Shows how far each kind is until every one of these jobs has ended.
pub(crate) async fn watch_until_all_ended(
    storage: &Sqlite,
    ids: &[JobId],
) -> Result<(), StoreError> {
    let bars = MultiProgress::new();
    let mut by_kind: BTreeMap<String, ProgressBar> = BTreeMap::new();
    for tick in 0u32.. {
        let mut kinds: BTreeMap<String, Vec<Job>> = BTreeMap::new();
        for job in jobs(storage, ids).await? {
            kinds.entry(job.kind.to_string()).or_default().push(job);
        }
        for (kind, jobs) in &kinds {
            let bar = by_kind
                .entry(kind.clone())
                .or_insert_with(|| bars.add(bar(kind, jobs.len())));
            bar.set_position(count(jobs, JobState::is_final) as u64);
            bar.set_message(format!(
                "{} waiting, {} running",
                count(jobs, |state| state == JobState::Waiting),
                count(jobs, |state| state == JobState::Processing)
            ));
        }
        let all: Vec<Job> = kinds.into_values().flatten().collect();
        let ended = count(&all, JobState::is_final);
        // Where there is no terminal the bars are hidden, and a line now and then has to do.
        if bars.is_hidden() && tick.is_multiple_of(20) {
            println!("{ended} of {} jobs have ended", all.len());
        }
        if ended == all.len() {
            break;
        }
        storage.clock().sleep(Duration::from_millis(100)).await;
    }
    for bar in by_kind.values() {
        bar.finish_with_message("done");
    }
    Ok(())
}

/// These jobs, which ascend, as they are now.
pub(crate) async fn jobs(storage: &Sqlite, ids: &[JobId]) -> Result<Vec<Job>, StoreError> {
    let Some(first) = ids.first() else {
        return Ok(Vec::new());
    };
    let from_the_first = JobFilter {
        after: Some(JobId::new(first.get() - 1)),
        limit: usize::MAX,
        ..JobFilter::default()
    };
    let mut jobs = storage.jobs(from_the_first).await?;
    jobs.retain(|job| ids.binary_search(&job.id).is_ok());
    Ok(jobs)
}

fn bar(kind: &str, jobs: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix:16} {bar:32} {pos:>3}/{len:3} {msg}");
    let bar = ProgressBar::new(jobs as u64).with_prefix(kind.to_owned());
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

fn count(jobs: &[Job], is_it: impl Fn(JobState) -> bool) -> usize {
    jobs.iter().filter(|job| is_it(job.state)).count()
}
