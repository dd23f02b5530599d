//! The judgement: what each key allowed, and what the handlers saw.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use comfy_table::{Table, presets};
use warp_runtime::storage::model::Event;
use warp_runtime::storage::{Store, StoreError};
use warp_runtime::{JobId, Sqlite, Style, Timestamp};

use crate::record::{Record, Seen};

/// What a key allows.
#[derive(Clone, Copy)]
pub(crate) enum Limit {
    /// So many at once.
    AtOnce(usize),
    /// So many starts per window, counted in this style.
    Starts(usize, Duration, Style),
}

/// Every key of the example with its limit.
pub(crate) fn limits() -> Vec<(String, Limit)> {
    let window = Duration::from_secs(2);
    let mut limits = vec![
        ("cache".to_owned(), Limit::AtOnce(1)),
        ("gpu".to_owned(), Limit::AtOnce(4)),
        ("export-queue".to_owned(), Limit::AtOnce(3)),
        ("crm".to_owned(), Limit::AtOnce(2)),
        ("mail".to_owned(), Limit::Starts(15, window, Style::Fixed)),
        (
            "partner".to_owned(),
            Limit::Starts(10, window, Style::Sliding),
        ),
        (
            "meter".to_owned(),
            Limit::Starts(12, window, Style::TokenBucket),
        ),
    ];
    limits.extend((0..4).map(|customer| (format!("customer:{customer}"), Limit::AtOnce(1))));
    limits
}

impl Limit {
    /// Whether what was seen is within the limit.
    fn is_kept(self, seen: &Seen) -> bool {
        match self {
            Self::AtOnce(limit) => seen.most_running <= limit,
            Self::Starts(count, window, Style::Fixed) => {
                most_aligned(&seen.starts, window) <= count
            }
            Self::Starts(count, window, Style::Sliding) => {
                most_sliding(&seen.starts, window) <= count
            }
            Self::Starts(count, window, Style::TokenBucket) => {
                fits_bucket(&seen.starts, count, window)
            }
        }
    }

    /// Starts in the busiest window: aligned ones for `fixed`, any for the others.
    fn busiest_window(self, seen: &Seen) -> Option<usize> {
        match self {
            Self::AtOnce(_) => None,
            Self::Starts(_, window, Style::Fixed) => Some(most_aligned(&seen.starts, window)),
            Self::Starts(_, window, _) => Some(most_sliding(&seen.starts, window)),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtOnce(limit) => write!(f, "{limit} at once"),
            Self::Starts(count, window, style) => write!(f, "{count} per {window:?}, {style}"),
        }
    }
}

fn micros(window: Duration) -> i64 {
    i64::try_from(window.as_micros()).unwrap_or(i64::MAX)
}

fn most_aligned(starts: &[Timestamp], window: Duration) -> usize {
    let mut windows: BTreeMap<i64, usize> = BTreeMap::new();
    for start in starts {
        *windows
            .entry(start.as_micros().div_euclid(micros(window)))
            .or_default() += 1;
    }
    windows.into_values().max().unwrap_or(0)
}

fn most_sliding(starts: &[Timestamp], window: Duration) -> usize {
    let in_window = |end: &Timestamp| {
        starts
            .iter()
            .filter(|at| *at <= end && **at > end.minus(window))
            .count()
    };
    starts.iter().map(in_window).max().unwrap_or(0)
}

/// A bucket allows its capacity and what flowed in since, over every stretch of time.
fn fits_bucket(starts: &[Timestamp], count: usize, window: Duration) -> bool {
    let stretches =
        (0..starts.len()).flat_map(|from| (from..starts.len()).map(move |to| (from, to)));
    let mut counted = stretches.map(|(from, to)| (to - from + 1, starts[to].since(starts[from])));
    counted.all(|(number, stretch)| {
        number.saturating_sub(count) as u128 * window.as_micros()
            <= stretch.as_micros() * count as u128
    })
}

/// What happened on each key.
pub(crate) struct Report {
    rows: Vec<Row>,
}

struct Row {
    key: String,
    limit: Limit,
    seen: Seen,
    waited: usize,
    skipped: usize,
}

impl Report {
    /// Puts together what the handlers saw, and from the job log who waited and who was skipped.
    pub(crate) async fn new(
        storage: &Sqlite,
        ids: &[JobId],
        record: &Record,
        limits: &[(String, Limit)],
    ) -> Result<Self, StoreError> {
        let mut waited: BTreeMap<String, usize> = BTreeMap::new();
        let mut skipped: BTreeMap<String, usize> = BTreeMap::new();
        for &id in ids {
            for entry in storage.log(id).await? {
                match entry.event {
                    Event::Waiting(refusal) => {
                        *waited.entry(refusal.key.key.to_string()).or_default() += 1;
                    }
                    Event::Skipped(refusal) => {
                        *skipped.entry(refusal.key.key.to_string()).or_default() += 1;
                    }
                    _ => {}
                }
            }
        }
        let row = |(key, limit): &(String, Limit)| Row {
            key: key.clone(),
            limit: *limit,
            seen: record.of(key),
            waited: waited.get(key).copied().unwrap_or(0),
            skipped: skipped.get(key).copied().unwrap_or(0),
        };
        Ok(Self {
            rows: limits.iter().map(row).collect(),
        })
    }

    /// Whether every limit was kept.
    pub(crate) fn is_kept(&self) -> bool {
        self.rows.iter().all(Row::is_kept)
    }

    /// Whether every key was in use at all: a limit that was never reached for proves nothing.
    pub(crate) fn is_complete(&self) -> bool {
        self.rows.iter().all(|row| !row.seen.starts.is_empty())
    }
}

impl Row {
    fn is_kept(&self) -> bool {
        self.limit.is_kept(&self.seen)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED);
        table.set_header([
            "key",
            "limit",
            "starts",
            "most at once",
            "busiest window",
            "waited",
            "skipped",
            "kept",
        ]);
        for row in &self.rows {
            let busiest = row.limit.busiest_window(&row.seen);
            table.add_row([
                row.key.clone(),
                row.limit.to_string(),
                row.seen.starts.len().to_string(),
                row.seen.most_running.to_string(),
                busiest.map_or("–".to_owned(), |starts| starts.to_string()),
                row.waited.to_string(),
                row.skipped.to_string(),
                if row.is_kept() { "yes" } else { "NO" }.to_owned(),
            ]);
        }
        write!(
            f,
            "{table}\n{}",
            if self.is_kept() {
                "every limit was kept"
            } else {
                "a limit was EXCEEDED"
            }
        )
    }
}
