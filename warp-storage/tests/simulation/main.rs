//! A deterministic simulation: seeded workers that come, drain, leave, fall silent and die, jobs of several keys, a clock that jumps.
//! What is promised is checked from outside, by a witness of starts and ends, after every step.
//!
//! A failure prints its seed. `WARP_SIMULATION_SEEDS=5000` runs more of them, `WARP_SIMULATION_FIRST=77` begins at another one.

#[path = "../common/backend.rs"]
mod backend;
#[path = "../common/in_file.rs"]
mod in_file;
#[path = "../common/in_memory.rs"]
mod in_memory;
mod jobs;
mod life;
#[cfg(feature = "postgres")]
#[path = "../common/on_server.rs"]
mod on_server;
#[path = "../common/random.rs"]
mod random;
mod rules;
#[path = "../common/seeds.rs"]
mod seeds;
mod witness;
mod worker;
mod world;

use std::error::Error;

use crate::backend::Backend;
use crate::in_file::InFile;
use crate::in_memory::InMemory;
use crate::seeds::seeds;
use crate::world::World;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// R40–R53, R60–R66, R80–R84.
#[tokio::test]
async fn whatever_happens_the_rules_hold_on_memory() {
    the_rules_hold(async || Ok(Box::new(InMemory::new()) as _), 250).await;
}

/// The same on SQLite.
#[tokio::test]
async fn whatever_happens_the_rules_hold_on_sqlite() {
    the_rules_hold(async || Ok(Box::new(InFile::new().await) as _), 5).await;
}

/// The same on PostgreSQL.
#[cfg(feature = "postgres")]
#[tokio::test]
async fn whatever_happens_the_rules_hold_on_postgres() {
    if on_server::has_server().await {
        let fresh = async || {
            let server = on_server::OnServer::new().await;
            Ok(Box::new(server.ok_or("there is no server")?) as _)
        };
        the_rules_hold(fresh, 3).await;
    }
}

/// Lives through so many seeds, each on a store of its own.
#[expect(clippy::panic, reason = "the test fails here")]
async fn the_rules_hold(fresh: impl AsyncFn() -> Result<Box<dyn Backend>>, by_default: u64) {
    for seed in seeds("SIMULATION", by_default) {
        let life = async || World::new(seed, fresh().await?).live().await;
        // Listening to the store takes none of what tokio grants a task between two yields.
        if let Err(error) = tokio::task::unconstrained(life()).await {
            panic!("seed {seed}: {error}");
        }
    }
}
