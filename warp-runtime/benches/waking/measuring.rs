//! What is measured.

use std::time::Duration;

use warp_runtime::JobId;
use warp_runtime::prelude::*;
use warp_runtime::storage::clock::{Clock, SystemClock};
use warp_runtime::storage::model::JobState;

use crate::Outcome;
use crate::jobs::{Holds, Part, TOKEN_EVERY_MICROS, TOKENS, Tick, Tock, Waits, What};
use crate::place::{Place, Way};
use crate::process::{Process, Shift};

/// How many doors are closed at once.
const DOORS: u32 = 20;

/// How often it is looked whether all wait.
const LOOKS_AGAIN: Duration = Duration::from_millis(20);

/// How many tokens are not measured: those that come while the second process begins.
const BEGINNING: u32 = 20;

/// How late a token may be taken before the bucket is full, and no more of them come.
const NEVER_FULL: Duration = Duration::from_millis(1_900);

/// A place with two processes that serve different kinds.
struct Round {
    place: Place,
    storage: Storage,
    way: Way,
    name: String,
}

impl Round {
    async fn new(way: Way) -> Outcome<Self> {
        let place = Place::new(way)?;
        let name = place.name();
        let storage = way.open(&name).await?;
        Ok(Self {
            place,
            storage,
            way,
            name,
        })
    }

    fn start(&self, part: Part) -> Outcome<Process> {
        Process::start(&Shift {
            way: self.way,
            name: self.name.clone(),
            part,
        })
    }

    async fn end(self, processes: [Process; 2]) -> Outcome {
        for process in processes {
            process.stop()?;
        }
        drop(self.storage);
        self.place.remove().await
    }

    async fn until_all_wait(&self, ids: &[JobId]) -> Outcome {
        for &id in ids {
            while self.storage.job(id).await?.map(|job| job.state) != Some(JobState::Waiting) {
                SystemClock.sleep(LOOKS_AGAIN).await;
            }
        }
        Ok(())
    }
}

/// From the end of the handler that has a mutex to the beginning of the one that waits for it in the other process.
pub(crate) async fn mutex(way: Way, samples: u32) -> Outcome<Vec<Duration>> {
    let round = Round::new(way).await?;
    let mut holder = round.start(Part::First)?;
    let mut waiter = round.start(Part::Second)?;
    let publisher = Publisher::new(round.storage.clone());
    let mut times = Vec::new();
    let numbers: Vec<u32> = (1..=samples).collect();
    for doors in numbers.chunks(DOORS as usize) {
        let holds = doors.iter().map(|&number| Holds { number });
        publisher.enqueue_all(holds).await?;
        for _ in doors {
            holder.next().await?;
        }
        let waits = doors.iter().map(|&number| Waits { number });
        let ids = publisher.enqueue_all(waits).await?;
        round.until_all_wait(&ids).await?;
        for &number in doors {
            SystemClock.sleep(pause(way, number)).await;
            holder.release(number)?;
            let ended = holder.expect(What::Ended, number).await?;
            let began = waiter.expect(What::Began, number).await?;
            times.push(began.at.since(ended.at));
        }
    }
    round.end([holder, waiter]).await?;
    Ok(times)
}

/// At another moment of the period each time, and evenly so: by the golden ratio.
fn pause(way: Way, number: u32) -> Duration {
    const THOUSANDTHS: u32 = 618;
    way.period() * (number * THOUSANDTHS % 1000) / 1000
}

/// From the instant at which a token is there to the beginning of the handler that takes it. The jobs in line are of the one kind and of the
/// other in turn, so that both processes wait for tokens of one key.
pub(crate) async fn rate(way: Way, samples: u32) -> Outcome<Vec<Duration>> {
    let round = Round::new(way).await?;
    let publisher = Publisher::new(round.storage.clone());
    let first = (0..TOKENS).map(|number| Tick { number });
    publisher.enqueue_all(first).await?;
    let jobs = samples + BEGINNING;
    for number in (TOKENS..TOKENS + jobs).step_by(2) {
        publisher.enqueue(Tick { number }).await?;
        publisher.enqueue(Tock { number: number + 1 }).await?;
    }
    let mut north = round.start(Part::First)?;
    let mut began = Vec::new();
    for _ in 0..TOKENS {
        began.push(north.next().await?);
    }
    let mut south = round.start(Part::Second)?;
    for _ in 0..jobs {
        began.push(tokio::select! {
            told = north.next() => told?,
            told = south.next() => told?,
        });
    }
    round.end([north, south]).await?;
    began.sort_by_key(|told| told.admitted_at);
    let first = began.first().ok_or("no job has begun")?.admitted_at;
    let later = began.iter().zip(1..).skip(TOKENS as usize);
    let mut times = Vec::new();
    for (told, number) in later {
        let there = first.plus_micros((number - u64::from(TOKENS)) * TOKEN_EVERY_MICROS);
        if told.admitted_at < there || told.admitted_at.since(there) > NEVER_FULL {
            return Err(format!("{told:?} began at another token than that of {there}").into());
        }
        times.push(told.at.since(there));
    }
    Ok(times.split_off(BEGINNING as usize))
}
