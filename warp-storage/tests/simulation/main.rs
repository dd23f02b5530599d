//! A deterministic simulation on memory: seeded workers that come, drain, leave, fall silent and die, jobs of several keys, a clock that
//! jumps. What is promised is checked from outside, by a witness of starts and ends, after every step.
//!
//! A failure prints its seed. `WARP_SIMULATION_SEEDS=5000` runs more of them, `WARP_SIMULATION_FIRST=77` begins at another one.

mod jobs;
mod life;
mod random;
mod rules;
mod witness;
mod worker;
mod world;

use std::error::Error;

use crate::world::World;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// R40–R53, R60–R66, R80–R84.
#[tokio::test]
async fn whatever_happens_the_rules_hold() {
    let from_env = |name| {
        std::env::var(name)
            .ok()
            .and_then(|text| text.parse::<u64>().ok())
    };
    let first = from_env("WARP_SIMULATION_FIRST").unwrap_or(1);
    let count = from_env("WARP_SIMULATION_SEEDS").unwrap_or(250);
    for seed in first..first + count {
        let mut world = World::new(seed);
        // Listening to the store takes none of what tokio grants a task between two yields.
        if let Err(error) = tokio::task::unconstrained(world.live()).await {
            panic!("seed {seed}: {error}");
        }
    }
}
