//! The course of a world: things happen by chance, then nothing does any more and everything ends.

use std::time::Duration;

use warp_storage::model::{JobFilter, JobState};

use crate::Result;
use crate::jobs::{KINDS, QUEUES};
use crate::worker::{Mood, Worker};
use crate::world::{LEASE, World};

impl World {
    pub(crate) async fn live(&mut self) -> Result<()> {
        for _ in 0..150 {
            self.something_happens().await?;
            self.backend.audit().await?;
        }
        self.come_to_an_end().await
    }

    async fn something_happens(&mut self) -> Result<()> {
        let number = self.workers.len();
        let index = self.random.below(number.max(1));
        match self.random.below(100) {
            0..25 => self.enqueue().await,
            25..27 => self.a_new_worker_comes().await,
            _ if number == 0 => self.a_new_worker_comes().await,
            27..70 => self.somebody_works(index).await,
            70..84 => {
                self.time_passes();
                Ok(())
            }
            84..90 => self.everybody_has_a_turn().await,
            90..91 => self.a_worker_leaves(index).await,
            91..92 => self.a_worker_drains(index).await,
            92..93 => {
                self.a_worker_dies(index);
                Ok(())
            }
            93..95 => {
                let worker = &mut self.workers[index];
                worker.mood = match worker.mood {
                    Mood::Works => Mood::Silent,
                    Mood::Silent => Mood::Works,
                    Mood::Drains => Mood::Drains,
                };
                Ok(())
            }
            _ => self.sweep().await,
        }
    }

    async fn a_new_worker_comes(&mut self) -> Result<()> {
        let random = &mut self.random;
        let mut some_of = |all: &[&'static str]| -> Vec<&'static str> {
            all.iter().copied().filter(|_| !random.one_in(3)).collect()
        };
        let (queues, kinds) = (some_of(&QUEUES), some_of(&KINDS));
        self.a_worker_comes(queues, kinds).await
    }

    fn time_passes(&mut self) {
        let now = self.now();
        let random = &mut self.random;
        let then = match random.below(60) {
            0 => now.plus(Duration::from_secs(100)),
            1 => now.minus(random.millis(900)),
            2 => now.minus(Duration::from_secs(2 + random.below(50) as u64)),
            _ => now.plus(random.millis(2_000)),
        };
        self.set_clock(then);
    }

    /// Turns of one worker until it would sleep. Returns how much it did.
    async fn somebody_works(&mut self, index: usize) -> Result<()> {
        self.work(index).await.map(|_| ())
    }

    async fn work(&mut self, index: usize) -> Result<usize> {
        if self.workers[index].mood == Mood::Silent {
            return Ok(0);
        }
        if self.workers[index].mood == Mood::Drains && self.workers[index].ends.is_empty() {
            self.a_worker_leaves(index).await?;
            return Ok(1);
        }
        let mut did = 0;
        for _ in 0..1_000 {
            // A worker that was declared dead is another one now.
            let index = index.min(self.workers.len() - 1);
            let (something, asks_again) = self.take_turn(index).await?;
            did += something;
            if !asks_again {
                return Ok(did);
            }
        }
        Err("a worker spins".into())
    }

    /// Everybody has turns until nobody does anything any more. Then nothing is left that could start.
    async fn everybody_has_a_turn(&mut self) -> Result<()> {
        for _ in 0..100 {
            let mut did = 0;
            for index in (0..self.workers.len()).rev() {
                did += self.work(index).await?;
            }
            if did == 0 {
                self.is_disturbed = false;
                return self.check_rest().await;
            }
        }
        Err("they never come to rest".into())
    }

    /// Somebody serves every kind, nobody is silent or comes any more, and each worker sleeps for as long as the real one would: what
    /// is not announced and not timed is not done.
    async fn come_to_an_end(&mut self) -> Result<()> {
        self.a_worker_comes(QUEUES.to_vec(), KINDS.to_vec()).await?;
        let now = self.now();
        for worker in &mut self.workers {
            if worker.mood == Mood::Silent {
                worker.mood = Mood::Works;
                worker.wakes_at = Some(now);
            }
        }
        let mut beat = self.now();
        for instant in 0..20_000_u32 {
            self.everybody_awake_works().await?;
            if !self.jobs_are_left().await? {
                self.backend.audit().await?;
                return self.check_end().await;
            }
            if instant % 8 == 0 {
                self.backend.audit().await?;
                self.check_rest().await?;
            }
            let now = self.now();
            if beat <= now {
                self.everybody_beats().await?;
                beat = now.plus(LEASE / 3);
                continue;
            }
            let next = self.workers.iter().filter_map(Worker::next).min();
            self.set_clock(next.unwrap_or(beat).clamp(now, beat));
        }
        Err(format!("jobs are left: {:?}", self.backend.leftovers().await).into())
    }

    async fn everybody_awake_works(&mut self) -> Result<()> {
        for _ in 0..1_000 {
            let now = self.now();
            let mut awake = None;
            for index in 0..self.workers.len() {
                if self.workers[index].is_awake(now) {
                    awake = Some(index);
                    break;
                }
            }
            let Some(index) = awake else {
                return Ok(());
            };
            self.work(index).await?;
        }
        Err("they never come to rest".into())
    }

    /// R80: each worker says that it is alive, and one looks for those who do not.
    async fn everybody_beats(&mut self) -> Result<()> {
        let now = self.now();
        for worker in &mut self.workers {
            if self
                .backend
                .store()
                .heartbeat(worker.inner.id)
                .await
                .is_err()
            {
                // It was declared dead, and hears the rest in its next turn.
                worker.wakes_at = Some(now);
            }
        }
        self.sweep().await
    }

    async fn jobs_are_left(&self) -> Result<bool> {
        for state in [
            JobState::Processing,
            JobState::Waiting,
            JobState::Enqueued,
            JobState::Scheduled,
        ] {
            let one = JobFilter {
                state: Some(state),
                limit: 1,
                ..JobFilter::default()
            };
            if !self.store().jobs(one).await?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
