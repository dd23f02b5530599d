//! Chance, which can be repeated.

use std::time::Duration;

/// A generator; one seed means the same course.
#[derive(Debug)]
pub struct Chance(fastrand::Rng);

impl Chance {
    /// From the seed that `WARP_TEST_SEED` says, or 1. A test that fails shows it.
    pub fn from_env() -> Self {
        let seed = std::env::var("WARP_TEST_SEED").map_or(1, |text| text.parse().unwrap());
        #[expect(clippy::print_stdout, reason = "it is shown when the test fails")]
        {
            println!("WARP_TEST_SEED={seed}");
        }
        Self(fastrand::Rng::with_seed(seed))
    }

    /// So many milliseconds at most, to the microsecond.
    pub fn within_millis(&mut self, bound: u64) -> Duration {
        Duration::from_micros(self.0.u64(..bound * 1000))
    }
}
