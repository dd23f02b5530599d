//! R10
use warp_runtime::prelude::*;

unsafe extern "C" {
    #[mutex("payment")]
    fn pay(cents: u64);
}

fn main() {}
