//! Every backend against memory, the reference model: seeded histories are told to both, step by step, on clocks that move together, and
//! after every step both must have answered, and must show, the same.
//!
//! A failure prints its seed, the number of the step, and the difference. `WARP_DIFFERENTIAL_SEEDS=5000` runs more seeds,
//! `WARP_DIFFERENTIAL_FIRST=77` begins at another one.

mod course;
mod crew;
mod difference;
mod flawed;
mod ids;
#[path = "../common/in_file.rs"]
mod in_file;
#[path = "../common/in_memory.rs"]
mod in_memory;
mod jobs;
#[cfg(feature = "postgres")]
#[path = "../common/on_server.rs"]
mod on_server;
#[path = "../common/random.rs"]
mod random;
#[path = "../common/seeds.rs"]
mod seeds;
mod side;
mod step;
mod times;

use std::error::Error;

use warp_storage::conformance::Harness;

use crate::course::Course;
use crate::difference::Comparison;
use crate::flawed::{Flaw, Flawed};
use crate::in_file::InFile;
use crate::in_memory::InMemory;
use crate::seeds::seeds;
use crate::step::Step;

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const STEPS: usize = 150;

/// How many of the steps before it a failure shows.
const STEPS_SHOWN: usize = 5;

/// The same histories give the same answers: nothing in the comparison, or in memory, hangs on chance.
#[tokio::test]
async fn memory_does_as_memory_does() {
    run(async || Ok(Box::new(InMemory::new()) as _), 30).await;
}

/// SQLite gives the answers of the reference model.
#[tokio::test]
async fn sqlite_does_as_memory_does() {
    run(async || Ok(Box::new(InFile::new().await) as _), 10).await;
}

/// PostgreSQL gives the answers of the reference model.
#[cfg(feature = "postgres")]
#[tokio::test]
async fn postgres_does_as_memory_does() {
    if on_server::has_server().await {
        let fresh = async || {
            let server = on_server::OnServer::new().await;
            Ok(Box::new(server.ok_or("there is no server")?) as _)
        };
        run(fresh, 10).await;
    }
}

/// A comparison that finds nothing is worth nothing: each flaw is found.
#[tokio::test]
async fn every_flaw_is_found() -> Result {
    for flaw in Flaw::ALL {
        let mut found = Vec::new();
        for seed in 1..=5 {
            let subject = Box::new(Flawed::new(flaw));
            found.extend(compare(seed, subject).await.err());
        }
        let mut texts = found.iter().map(ToString::to_string);
        let is_shown = texts.any(|text| text.contains(flaw.shows_in()));
        assert!(is_shown, "{flaw:?} does not show: {found:?}");
    }
    Ok(())
}

/// Tells so many histories to memory and to a backend, each to a fresh store.
#[expect(clippy::panic, reason = "the test fails here")]
async fn run(fresh: impl AsyncFn() -> Result<Box<dyn Harness>>, by_default: u64) {
    for seed in seeds("DIFFERENTIAL", by_default) {
        let compared = async || compare(seed, fresh().await?).await;
        if let Err(difference) = compared().await {
            panic!("seed {seed}, {difference}");
        }
    }
}

/// Tells one history.
async fn compare(seed: u64, subject: Box<dyn Harness>) -> Result {
    let mut course = Course::new(seed)?;
    let mut both = Comparison::new(Box::new(InMemory::new()), subject);
    let mut before = Vec::<Step>::new();
    for number in 1..=STEPS {
        let step = course.next(both.now())?;
        match both.take(&step).await {
            Ok(answer) => course.learn(&step, answer),
            Err(difference) => {
                let shown = &before[before.len().saturating_sub(STEPS_SHOWN)..];
                let shown = shown.iter().map(|step| format!("\n  {step:?}"));
                let shown: String = shown.collect();
                return Err(format!(
                    "step {number}, {step:?}:\n{difference}\nThe steps before it:{shown}"
                )
                .into());
            }
        }
        before.push(step);
    }
    let ended = both.compare_the_whole().await;
    ended.map_err(|difference| format!("at the end: {difference}").into())
}
