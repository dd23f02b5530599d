//! R10
use warp_runtime::prelude::*;

#[mutex("payment")]
union Amount {
    cents: u64,
    euros: f64,
}

fn main() {}
