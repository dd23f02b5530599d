//! What the handlers saw, and whether it was allowed.

use std::collections::BTreeMap;
use std::time::Duration;

use warp_policy::ids::{JobId, WorkerId};
use warp_policy::{Style, Timestamp};
use warp_storage::model::{End, NewJob, Started};

use crate::Result;
use crate::jobs::RATES;

/// What runs, and what started and ended, as seen from outside.
#[derive(Default)]
pub(crate) struct Witness {
    running: BTreeMap<JobId, (WorkerId, Option<String>)>,
    starts: BTreeMap<&'static str, Vec<Timestamp>>,
    pub(crate) histories: BTreeMap<JobId, History>,
}

/// What happened to one job.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct History {
    pub(crate) starts: u32,
    pub(crate) returned: u32,
    pub(crate) lost: u32,
    /// How it ended, if it did.
    pub(crate) end: Option<End>,
}

impl Witness {
    /// A job starts.
    pub(crate) fn start(
        &mut self,
        started: &Started,
        job: &NewJob,
        worker: WorkerId,
    ) -> Result<()> {
        let history = self.histories.entry(started.job).or_default();
        history.starts += 1;
        if history.end.is_some() {
            return Err(format!("job {} started after its end", started.job).into());
        }
        let attempt = history.starts - history.returned - history.lost;
        if started.attempt != attempt {
            return Err(format!("attempt {} instead of {attempt}", started.attempt).into());
        }
        let slot = job.explicit.concurrency.as_ref();
        let key = slot.map(|spec| spec.key().to_string());
        if self.running.insert(started.job, (worker, key)).is_some() {
            return Err(format!("job {} runs twice", started.job).into());
        }
        if let Some(spec) = slot {
            let (running, limit) = (self.held(spec.key().as_str()), spec.limit());
            if running > limit as usize {
                return Err(format!("{running} of {limit} run under `{}`", spec.key()).into());
            }
        }
        for spec in &job.explicit.rate_limits {
            self.spend(spec.key().as_str(), started.admitted_at)?;
        }
        Ok(())
    }

    fn spend(&mut self, key: &str, at: Timestamp) -> Result<()> {
        for (name, style, count, seconds) in RATES.into_iter().filter(|rate| rate.0 == key) {
            let starts = self.starts.entry(name).or_default();
            if starts.last().is_some_and(|&last| last > at) {
                return Err(format!("a start under `{key}` before the last one").into());
            }
            starts.push(at);
            if !keeps(starts, style, count as usize, Duration::from_secs(seconds)) {
                return Err(format!("too many starts under `{key}`: {starts:?}").into());
            }
        }
        Ok(())
    }

    /// A worker's report was accepted.
    pub(crate) fn end(&mut self, job: JobId, end: End) {
        self.running.remove(&job);
        let history = self.histories.entry(job).or_default();
        match end {
            End::Returned => history.returned += 1,
            End::Succeeded | End::Failed { .. } => history.end = Some(end),
            _ => {}
        }
    }

    /// A worker is gone: it left, or was declared dead. Returns what it ran.
    pub(crate) fn gone(&mut self, worker: WorkerId) -> Vec<JobId> {
        let runs = self.running.iter().filter(|(_, (by, _))| *by == worker);
        let jobs: Vec<JobId> = runs.map(|(&job, _)| job).collect();
        for job in &jobs {
            self.running.remove(job);
        }
        jobs
    }

    /// The clock went back far: the known starts may have been moved to any instant since (R49), and the witness begins anew.
    pub(crate) fn clock_went_back(&mut self) {
        self.starts.clear();
    }

    /// How many run under a concurrency key.
    pub(crate) fn held(&self, key: &str) -> usize {
        let keys = self.running.values().filter_map(|(_, key)| key.as_deref());
        keys.filter(|&held| held == key).count()
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    pub(crate) fn has_started(&self, job: JobId) -> bool {
        self.histories
            .get(&job)
            .is_some_and(|history| history.starts > 0)
    }

    /// Whether one more start at `now` would be within the limit, by what was seen.
    pub(crate) fn has_token(&self, key: &str, now: Timestamp) -> bool {
        let Some(rate) = RATES.into_iter().find(|rate| rate.0 == key) else {
            return true;
        };
        let (name, style, count, seconds) = rate;
        let mut starts = self.starts.get(name).cloned().unwrap_or_default();
        starts.push(starts.last().map_or(now, |&last| last.max(now)));
        keeps(&starts, style, count as usize, Duration::from_secs(seconds))
    }
}

/// Whether the last of these starts was within the limit.
fn keeps(starts: &[Timestamp], style: Style, count: usize, window: Duration) -> bool {
    let Some(&last) = starts.last() else {
        return true;
    };
    let micros = i64::try_from(window.as_micros()).unwrap_or(i64::MAX);
    match style {
        Style::Sliding => {
            let counts = |&&at: &&Timestamp| at > last.minus(window);
            starts.iter().rev().take_while(counts).count() <= count
        }
        Style::Fixed => {
            let number = |at: Timestamp| at.as_micros().div_euclid(micros);
            let counts = |&&at: &&Timestamp| number(at) == number(last);
            starts.iter().rev().take_while(counts).count() <= count
        }
        // Over every stretch of time: the capacity, and what flowed in since.
        Style::TokenBucket => starts.iter().enumerate().all(|(index, &from)| {
            let number = starts.len() - index;
            number.saturating_sub(count) as u128 * window.as_micros()
                <= u128::from(last.micros_since(from)) * count as u128
        }),
    }
}
