//! R10
use warp_runtime::prelude::*;

#[mutex("payment")]
type Amount = u64;

fn main() {}
