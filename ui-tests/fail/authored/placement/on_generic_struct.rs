//! R10, S19
use warp_runtime::prelude::*;

#[mutex("batch")]
struct Batch<T>(Vec<T>);

fn main() {}
