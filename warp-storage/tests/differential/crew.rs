//! The workers of a history, as they see themselves.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use warp_storage::model::{End, NewWorker};

use crate::jobs::{KINDS, QUEUES};
use crate::random::Random;
use crate::step::{Report, Turn};

/// A worker: the n-th of the history.
pub(crate) struct Mate {
    pub(crate) number: usize,
    pub(crate) is_gone: bool,
    pub(crate) drains: bool,
    /// It is frozen, and takes no turn until it wakes.
    pub(crate) is_silent: bool,
    /// The starts that it runs.
    pub(crate) running: Vec<usize>,
    turns: u64,
    size: usize,
}

impl Mate {
    pub(crate) fn new(number: usize, random: &mut Random) -> Self {
        Self {
            number,
            is_gone: false,
            drains: false,
            is_silent: false,
            running: Vec::new(),
            turns: 0,
            size: 1 + random.below(6),
        }
    }

    /// Whether it drains, and runs nothing any more.
    pub(crate) fn is_done(&self) -> bool {
        self.drains && self.running.is_empty()
    }

    /// A turn that reports some of what it runs, now and then twice.
    pub(crate) fn turn(&mut self, random: &mut Random) -> Turn {
        self.turns += 1;
        let part = random.one_of(&[1, 2, 2, 4]);
        let mut reports = Vec::new();
        for &start in &self.running {
            if random.one_in(part) {
                let end = an_end(random);
                reports.push(Report { start, end });
            }
        }
        if random.one_in(25) {
            reports.extend(reports.last().cloned());
        }
        let runs = |start: &&usize| reports.iter().all(|report| report.start != **start);
        let running = self.running.iter().filter(runs).count();
        let room = match random.below(15) {
            0 => 0,
            _ => self.size.saturating_sub(running),
        };
        let more = match random.below(10) {
            0 => 500,
            1..4 => random.below(20),
            _ => 0,
        };
        Turn {
            worker: self.number,
            number: self.turns,
            reports,
            room,
            fetch: room + more,
        }
    }
}

pub(crate) fn a_worker(number: usize, random: &mut Random) -> NewWorker {
    let mut some_of = |all: &[&'static str]| -> BTreeSet<Arc<str>> {
        let some = all.iter().filter(|_| !random.one_in(6));
        some.map(|&name| name.into()).collect()
    };
    let (queues, kinds) = (some_of(&QUEUES), some_of(&KINDS));
    NewWorker {
        name: format!("worker {number}"),
        queues,
        kinds,
        lease: Duration::from_secs(random.one_of(&[5, 60, 3_600, 2_592_000])),
    }
}

pub(crate) fn an_end(random: &mut Random) -> End {
    let error = "busy".to_owned();
    match random.below(12) {
        0 => End::Retry {
            error,
            after: random.millis(2_000),
        },
        1 => End::Retry {
            error,
            after: Duration::ZERO,
        },
        2 => End::Failed { error },
        3 => End::Returned,
        _ => End::Succeeded,
    }
}
