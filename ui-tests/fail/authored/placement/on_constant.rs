//! R10
use warp_runtime::prelude::*;

#[mutex("payment")]
const AMOUNT: fn() -> u64 = || 1;

fn main() {}
