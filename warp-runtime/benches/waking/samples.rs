//! Times that were measured, in rounds.

use std::time::Duration;

use crate::spread::Spread;

/// Times that were measured, in milliseconds.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    all: Vec<f64>,
    medians: Spread,
    tails: Spread,
}

impl Samples {
    pub(crate) fn add_round(&mut self, times: Vec<Duration>) {
        let mut round: Vec<f64> = times
            .into_iter()
            .map(|time| time.as_secs_f64() * 1000.0)
            .collect();
        round.sort_by(f64::total_cmp);
        self.medians.add(quantile(&round, 50));
        self.tails.add(quantile(&round, 99));
        self.all.extend(round);
        self.all.sort_by(f64::total_cmp);
    }

    /// The least time that so many of a hundred samples did not exceed.
    pub(crate) fn quantile(&self, percent: usize) -> f64 {
        quantile(&self.all, percent)
    }

    pub(crate) fn row(&self, name: String, first: f64) -> [String; 8] {
        let at = |percent| format!("{:.1}", self.quantile(percent));
        [
            name,
            self.all.len().to_string(),
            at(50),
            at(99),
            at(100),
            self.medians.show(1),
            self.tails.show(1),
            format!("{:.1}", self.quantile(50) / first),
        ]
    }
}

fn quantile(sorted: &[f64], percent: usize) -> f64 {
    let at = (sorted.len() * percent).div_ceil(100).max(1) - 1;
    sorted.get(at).copied().unwrap_or(f64::NAN)
}
