//! R10
use warp_runtime::prelude::*;

#[rate_limit("batch", count = 1, per_seconds = 1)]
enum Batch<'a, const N: usize> {
    Of([&'a str; N]),
}

fn main() {}
