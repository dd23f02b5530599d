//! Whether everything in an office is in order.

use std::time::Duration;

use warp_runtime::JobId;
use warp_runtime::storage::model::{Event, Job as StoredJob, JobFilter, JobState};

use super::jobs::{PRINTERS, STARTS_A_SECOND};
use super::judge::Judge;
use super::office::{ACCOUNTS, Office, Outcome};

impl Office {
    /// That no limit was exceeded, no job lost, and none recorded twice; that only these processes were taken for dead, and what they held
    /// was given back.
    ///
    /// # Panics
    /// If not.
    pub async fn is_in_order(&self, ids: &[JobId], dead: &[String]) -> Outcome<Judge> {
        let judge = Judge::new(&self.notebook.read());
        no_limit_was_exceeded(&judge);
        let everything = JobFilter {
            limit: usize::MAX,
            ..JobFilter::default()
        };
        let jobs = self.storage.jobs(everything).await?;
        assert!(jobs.iter().map(|job| job.id).eq(ids.iter().copied()));
        for job in jobs {
            self.was_recorded_once(&job, &judge, dead).await?;
        }
        assert_eq!(self.ask("SELECT count(*) FROM warp_slots").await?, 0);
        Ok(judge)
    }

    async fn was_recorded_once(&self, job: &StoredJob, judge: &Judge, dead: &[String]) -> Outcome {
        let id = job.id;
        let log = self.storage.log(id).await?;
        let recorded = log
            .iter()
            .filter(|line| matches!(line.event, Event::Succeeded | Event::Failed { .. }));
        assert_eq!(recorded.count(), 1, "{log:#?}");
        let mut last_start = None;
        for line in &log {
            match line.event {
                Event::Started { claim, .. } => last_start = judge.processes.get(&claim.get()),
                Event::Lost { .. } => {
                    // One that was killed before its handler began is not in the notebook.
                    let is_dead = last_start.is_none_or(|process| dead.contains(process));
                    assert!(is_dead, "{last_start:?} lives: {log:#?}");
                }
                _ => {}
            }
        }
        // One that was lost three times may be what kills its workers (R84).
        let ends_as = if job.lost < 3 {
            JobState::Succeeded
        } else {
            JobState::Failed
        };
        assert_eq!(job.state, ends_as, "{log:#?}");
        let runs = judge.runs.get(&id).copied().unwrap_or(0);
        let most = 1 + job.lost as usize;
        assert!((1..=most).contains(&runs), "{id} ran {runs} times");
        Ok(())
    }
}

fn no_limit_was_exceeded(judge: &Judge) {
    let second = Duration::from_secs(1);
    for account in 0..ACCOUNTS {
        let key = format!("account:{account}");
        assert!(judge.most_at_once(&key) <= 1, "{key}");
        let tokens = judge.tokens.get(&key).map_or(&[][..], Vec::as_slice);
        assert!(tokens.is_sorted(), "{key}: {tokens:?}");
    }
    assert!(judge.most_at_once("printers") <= PRINTERS as usize);
    assert!(judge.busiest_fixed_window("mail", second) <= STARTS_A_SECOND as usize);
    assert!(judge.busiest_interval("call", second) <= STARTS_A_SECOND as usize);
    assert_eq!(judge.overdrawn("meter", STARTS_A_SECOND, second), 0);
}
