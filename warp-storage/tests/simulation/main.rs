//! A deterministic simulation on memory: seeded workers that come, go and die, jobs of several keys, a clock that jumps. What is promised
//! is checked from outside, by a witness of starts and ends, after every step.
//!
//! A failure prints its seed. `WARP_SIMULATION_SEEDS=5000` runs more of them, `WARP_SIMULATION_FIRST=77` begins at another one.

mod random;
mod witness;
mod world;

use std::error::Error;

use crate::world::World;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[tokio::test]
async fn whatever_happens_the_rules_hold() {
    let from_env = |name| {
        std::env::var(name)
            .ok()
            .and_then(|text| text.parse::<u64>().ok())
    };
    let first = from_env("WARP_SIMULATION_FIRST").unwrap_or(1);
    let count = from_env("WARP_SIMULATION_SEEDS").unwrap_or(100);
    for seed in first..first + count {
        let mut world = World::new(seed);
        if let Err(error) = world.live().await {
            panic!("seed {seed}: {error}");
        }
    }
}
