//! The course of a history: what happens next, by chance and by what memory answered.

use warp_policy::Timestamp;
use warp_policy::ids::{JobId, WorkerId};
use warp_storage::model::{JobFilter, JobState, Sweep};

use crate::Result;
use crate::crew::{Mate, a_worker, an_end};
use crate::jobs::{KINDS, Palette, QUEUES};
use crate::random::Random;
use crate::step::{Answer, Report, Step};
use crate::times::another_time;

const CREW: usize = 5;

pub(crate) struct Course {
    random: Random,
    palette: Palette,
    /// Whether lines come that are longer than what a turn reads of them.
    has_long_lines: bool,
    crew: Vec<Mate>,
    jobs: usize,
    starts: usize,
    /// Reports that were made, to be made again.
    old_reports: Vec<Report>,
    /// What the last turn said of the next one.
    next_at: Option<Timestamp>,
}

impl Course {
    pub(crate) fn new(seed: u64) -> Result<Self> {
        let mut random = Random::new(seed);
        let palette = Palette::new(&mut random)?;
        Ok(Self {
            random,
            palette,
            has_long_lines: seed.is_multiple_of(8),
            crew: Vec::new(),
            jobs: 0,
            starts: 0,
            old_reports: Vec::new(),
            next_at: None,
        })
    }

    pub(crate) fn next(&mut self, now: Timestamp) -> Result<Step> {
        let present = self.crew.iter().filter(|mate| !mate.is_gone).count();
        Ok(match self.random.below(100) {
            0..14 => self.enqueue(now),
            14..18 if present < CREW => self.register(),
            _ if present == 0 => self.register(),
            18..66 => self.turn(),
            66..83 => Step::SetClock(another_time(&mut self.random, now, self.next_at)),
            83..85 => Step::Drain(self.somebody()),
            85..87 => Step::Deregister(self.somebody()),
            87..89 => Step::Heartbeat(self.somebody()),
            89..92 => self.sweep(),
            92..94 if self.jobs > 0 => {
                Step::Cancel(self.jobs - 1 - self.random.below(self.jobs.min(30)))
            }
            94..96 => Step::List(self.filter()),
            96..98 if self.jobs > 0 => Step::Damage {
                job: self.jobs - 1 - self.random.below(self.jobs.min(20)),
                text: self.palette.damage(&mut self.random)?,
            },
            _ => {
                let mate = self.somebody();
                self.crew[mate].is_silent ^= true;
                self.turn()
            }
        })
    }

    fn enqueue(&mut self, now: Timestamp) -> Step {
        let random = &mut self.random;
        Step::Enqueue(match random.below(30) {
            0 if self.has_long_lines => self.palette.long_line(random, now),
            0..6 => self.palette.alike(random, now),
            _ => self.palette.some(random, now),
        })
    }

    fn register(&mut self) -> Step {
        Step::Register(a_worker(self.crew.len(), &mut self.random))
    }

    /// Mostly one that is there, now and then one that is not.
    fn somebody(&mut self) -> usize {
        let is_anybody = self.random.one_in(30);
        let crew = self.crew.iter().filter(|mate| is_anybody || !mate.is_gone);
        let crew: Vec<usize> = crew.map(|mate| mate.number).collect();
        self.random.one_of(&crew)
    }

    /// The turn of somebody who is awake. Now and then it also reports what is stale, or what another one runs.
    fn turn(&mut self) -> Step {
        let mut mate = self.somebody();
        if self.crew[mate].is_silent {
            mate = self.somebody();
        }
        if self.crew[mate].is_silent {
            self.crew[mate].is_silent = self.random.one_in(2);
            return self.sweep();
        }
        if self.crew[mate].is_done() {
            return Step::Deregister(mate);
        }
        let random = &mut self.random;
        let mut turn = self.crew[mate].turn(random);
        if random.one_in(15) && !self.old_reports.is_empty() {
            let old = random.below(self.old_reports.len());
            turn.reports.push(self.old_reports[old].clone());
        }
        if random.one_in(30) && self.starts > 0 {
            let start = random.below(self.starts);
            let end = an_end(random);
            turn.reports.push(Report { start, end });
        }
        Step::Turn(turn)
    }

    fn sweep(&mut self) -> Step {
        let max_lost = self.random.one_of(&[1, 2, 3, 3]);
        Step::Sweep(Sweep { max_lost })
    }

    fn filter(&mut self) -> JobFilter {
        let random = &mut self.random;
        let states = [
            JobState::Scheduled,
            JobState::Enqueued,
            JobState::Waiting,
            JobState::Processing,
            JobState::Succeeded,
            JobState::Failed,
            JobState::Deleted,
        ];
        let state = random.one_of(&states);
        let (kind, queue) = (random.one_of(&KINDS), random.one_of(&QUEUES));
        let after = random.below(self.jobs.max(1));
        let is_after = self.jobs > 0 && random.one_in(2);
        JobFilter {
            state: (!random.one_in(3)).then_some(state),
            kind: random.one_in(2).then(|| kind.into()),
            queue: random.one_in(2).then(|| queue.into()),
            after: is_after.then(|| JobId::new(i64::try_from(after).unwrap_or(0))),
            limit: 1 + random.below(20),
        }
    }

    /// What memory answered to a step.
    pub(crate) fn learn(&mut self, step: &Step, answer: Answer) {
        match (step, answer) {
            (Step::Enqueue(jobs), _) => self.jobs += jobs.len(),
            (Step::Register(_), _) => {
                let mate = Mate::new(self.crew.len(), &mut self.random);
                self.crew.push(mate);
            }
            (Step::Turn(turn), Answer::Turn(dispatched)) => {
                let running = &mut self.crew[turn.worker].running;
                running.retain(|&start| turn.reports.iter().all(|report| report.start != start));
                let starts = self.starts..self.starts + dispatched.started.len();
                self.starts = starts.end;
                running.extend(starts);
                self.old_reports.extend(turn.reports.iter().cloned());
                self.next_at = dispatched.next_at;
            }
            (&Step::Drain(worker), Answer::Done) => self.crew[worker].drains = true,
            (&Step::Deregister(worker), _) => self.crew[worker].is_gone = true,
            (_, Answer::Gone(worker)) => self.is_gone(worker),
            (_, Answer::Swept(swept)) => {
                for (worker, _) in swept.dead {
                    self.is_gone(worker);
                }
            }
            _ => {}
        }
    }

    fn is_gone(&mut self, worker: WorkerId) {
        let number = usize::try_from(worker.get()).ok();
        if let Some(mate) = number.and_then(|number| self.crew.get_mut(number)) {
            mate.is_gone = true;
        }
    }
}
