//! R10, S19: parameters with defaults are parameters.
use warp_runtime::prelude::*;

#[semaphore("batch", limit = 2)]
struct Batch<T = u8, const N: usize = 4>([T; N]);

fn main() {}
