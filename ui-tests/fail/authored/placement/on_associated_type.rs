//! R10
use warp_runtime::prelude::*;

struct Prices;

impl Iterator for Prices {
    #[mutex("prices")]
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        None
    }
}

fn main() {}
