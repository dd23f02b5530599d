//! Whether what the notebook says was allowed.

use std::collections::BTreeMap;
use std::time::Duration;

use warp_runtime::{JobId, Timestamp};

use super::notebook::Note;

/// What the notebook says.
#[derive(Debug, Default)]
pub struct Judge {
    /// The most that ran at once under each key.
    pub most_at_once: BTreeMap<String, usize>,
    /// The admission instants under each key, ascending.
    pub starts: BTreeMap<String, Vec<Timestamp>>,
    /// How often each job began.
    pub runs: BTreeMap<JobId, usize>,
    /// The numbers of the starts under each key, as they began.
    pub tokens: BTreeMap<String, Vec<i64>>,
    /// In which process each start began, by its number.
    pub processes: BTreeMap<i64, String>,
    running: BTreeMap<JobId, (String, String)>,
}

impl Judge {
    /// Reads all notes.
    ///
    /// # Panics
    /// If a job begins while it runs.
    pub fn new(notes: &[Note]) -> Self {
        let mut judge = Self::default();
        for note in notes {
            judge.read(note);
        }
        for starts in judge.starts.values_mut() {
            starts.sort_unstable();
        }
        judge
    }

    fn read(&mut self, note: &Note) {
        match note {
            Note::Began {
                process,
                job,
                key,
                admitted_at,
                token,
            } => {
                let run = (process.clone(), key.clone());
                let before = self.running.insert(*job, run);
                assert_eq!(before, None, "job {job} runs twice at once");
                let running = self.running.values().filter(|(_, other)| other == key);
                let most = self.most_at_once.entry(key.clone()).or_default();
                *most = running.count().max(*most);
                *self.runs.entry(*job).or_default() += 1;
                self.processes.insert(*token, process.clone());
                self.starts
                    .entry(key.clone())
                    .or_default()
                    .push(*admitted_at);
                self.tokens.entry(key.clone()).or_default().push(*token);
            }
            Note::Ended { job, process, .. } => {
                if self
                    .running
                    .get(job)
                    .is_some_and(|(other, _)| other == process)
                {
                    self.running.remove(job);
                }
            }
            Note::Gone { process } => self.running.retain(|_, (other, _)| other != process),
        }
    }

    /// The most that ran at once under a key.
    pub fn most_at_once(&self, key: &str) -> usize {
        self.most_at_once.get(key).copied().unwrap_or(0)
    }

    /// The most starts in one window of the clock.
    pub fn busiest_fixed_window(&self, key: &str, window: Duration) -> usize {
        let mut by_window: BTreeMap<u128, usize> = BTreeMap::new();
        for start in self.starts(key) {
            let since_epoch = start.since(Timestamp::from_micros(0)).as_micros();
            *by_window
                .entry(since_epoch / window.as_micros())
                .or_default() += 1;
        }
        by_window.into_values().max().unwrap_or(0)
    }

    /// The most starts in any interval `(t − window, t]`.
    pub fn busiest_interval(&self, key: &str, window: Duration) -> usize {
        crate::busiest(self.starts(key), window)
    }

    /// By how many starts a bucket of `count` tokens, refilled in each `window`, was overdrawn at most.
    pub fn overdrawn(&self, key: &str, count: u32, window: Duration) -> u128 {
        let starts = self.starts(key);
        let mut worst = 0;
        for (first, from) in starts.iter().enumerate() {
            for (last, until) in starts.iter().enumerate().skip(first) {
                let refilled =
                    until.since(*from).as_micros() * u128::from(count) / window.as_micros();
                let allowed = u128::from(count) + refilled;
                worst = worst.max(((last - first + 1) as u128).saturating_sub(allowed));
            }
        }
        worst
    }

    fn starts(&self, key: &str) -> &[Timestamp] {
        self.starts.get(key).map_or(&[], Vec::as_slice)
    }
}
