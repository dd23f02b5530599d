//! What the handlers saw, and whether it was allowed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use warp_policy::ids::JobId;
use warp_policy::precedence::ExplicitPolicies;
use warp_policy::{ConcurrencySpec, Mode, Style, Timestamp};
use warp_storage::model::Started;

use crate::Result;

/// Every rate key has one size; what happens when it changes is the limiter's own test.
pub(crate) const RATES: [(&str, Style, u32, u64); 3] = [
    ("sliding", Style::Sliding, 3, 5),
    ("fixed", Style::Fixed, 2, 3),
    ("bucket", Style::TokenBucket, 4, 8),
];

/// What runs, and what started, as seen from outside.
#[derive(Default)]
pub(crate) struct Witness {
    pub(crate) running: BTreeMap<String, BTreeSet<JobId>>,
    pub(crate) starts: BTreeMap<&'static str, Vec<Timestamp>>,
    pub(crate) started: BTreeSet<JobId>,
}

impl Witness {
    pub(crate) fn start(&mut self, started: &Started, explicit: &ExplicitPolicies) -> Result<()> {
        self.started.insert(started.job);
        if let Some(spec) = &explicit.concurrency {
            let running = self.running.entry(spec.key().to_string()).or_default();
            running.insert(started.job);
            if running.len() > spec.limit() as usize {
                return Err(format!(
                    "{} of {} run under `{}`",
                    running.len(),
                    spec.limit(),
                    spec.key()
                )
                .into());
            }
        }
        for (key, style, count, seconds) in RATES {
            if explicit
                .rate_limits
                .iter()
                .all(|spec| spec.key().as_str() != key)
            {
                continue;
            }
            let starts = self.starts.entry(key).or_default();
            starts.push(started.admitted_at);
            if !keeps(starts, style, count as usize, Duration::from_secs(seconds)) {
                return Err(format!("too many starts under `{key}`: {starts:?}").into());
            }
        }
        Ok(())
    }

    pub(crate) fn forget(&mut self, ended: &[Started]) {
        for jobs in self.running.values_mut() {
            for started in ended {
                jobs.remove(&started.job);
            }
        }
    }
}

/// Whether the last of these starts was within the limit.
fn keeps(starts: &[Timestamp], style: Style, count: usize, window: Duration) -> bool {
    let Some(&last) = starts.last() else {
        return true;
    };
    let micros = window.as_micros();
    match style {
        Style::Sliding => {
            starts
                .iter()
                .filter(|&&at| at > last.minus(window) && at <= last)
                .count()
                <= count
        }
        Style::Fixed => {
            let number = |at: Timestamp| {
                at.as_micros()
                    .div_euclid(i64::try_from(micros).unwrap_or(i64::MAX))
            };
            starts
                .iter()
                .filter(|&&at| number(at) == number(last))
                .count()
                <= count
        }
        // Over every stretch of time: the capacity, and what flowed in since.
        Style::TokenBucket => starts.iter().enumerate().all(|(index, &from)| {
            let number = starts.len() - index;
            number.saturating_sub(count) as u128 * micros
                <= u128::from(last.micros_since(from)) * count as u128
        }),
    }
}

pub(crate) fn keys(explicit: &ExplicitPolicies) -> BTreeSet<String> {
    let slots = explicit
        .concurrency
        .iter()
        .map(|spec| format!("slot {}", spec.key()));
    slots
        .chain(
            explicit
                .rate_limits
                .iter()
                .map(|spec| format!("token {}", spec.key())),
        )
        .collect()
}

pub(crate) fn policies_skip(explicit: &ExplicitPolicies) -> bool {
    let mut modes = explicit.concurrency.iter().map(ConcurrencySpec::mode);
    modes.any(|mode| mode == Mode::Skip)
        || explicit
            .rate_limits
            .iter()
            .any(|spec| spec.mode() == Mode::Skip)
}
