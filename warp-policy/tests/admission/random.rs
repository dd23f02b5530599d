//! A random life of a store, with every turn checked, and a quiet end at which every job must end.
//!
//! R40–R49, R50, R53, R60–R66, R102: see [`crate::model`] for what is checked after every turn. At the end everything is resumed,
//! every route has a worker and time goes from event to event: every job ends, and no worker spins (R44).

mod driver;
mod jobs;
mod rng;

use self::driver::Driver;
use self::jobs::Profile;

const STEPS: usize = 150;

fn number_from(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn live(profile: Profile, seeds: u64) {
    let seeds = match number_from("ADMISSION_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number_from("ADMISSION_SEEDS").unwrap_or(seeds),
    };
    for seed in seeds {
        let mut driver = Driver::new(profile, seed);
        for _ in 0..STEPS {
            driver.step();
        }
        driver.come_to_an_end();
    }
}

#[test]
fn a_mix_of_policies_keeps_the_rules() {
    live(Profile::Mixed, 80);
}

#[test]
fn rates_keep_the_rules() {
    live(Profile::Rates, 40);
}

#[test]
fn jobs_of_several_keys_keep_the_rules() {
    live(Profile::SeveralKeys, 50);
}

#[test]
fn long_lines_keep_the_rules() {
    live(Profile::LongLines, 16);
}
