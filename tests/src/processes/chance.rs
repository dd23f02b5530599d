//! Chance, which can be repeated.

use std::time::Duration;

/// A small generator; one seed means the same for ever.
#[derive(Debug)]
pub struct Chance(u64);

impl Chance {
    /// From the seed that `WARP_TEST_SEED` says, or 1. A test that fails shows it.
    pub fn from_env() -> Self {
        let seed = std::env::var("WARP_TEST_SEED").map_or(1, |text| text.parse().unwrap());
        #[expect(clippy::print_stdout, reason = "it is shown when the test fails")]
        {
            println!("WARP_TEST_SEED={seed}");
        }
        Self(u64::wrapping_mul(seed, 0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from(self.0 % u64::from(bound)).unwrap()
    }

    /// So many milliseconds at most, to the microsecond.
    pub fn within_millis(&mut self, bound: u32) -> Duration {
        Duration::from_micros(self.below(bound * 1000).into())
    }
}
