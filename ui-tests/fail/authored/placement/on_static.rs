//! R10
use warp_runtime::prelude::*;

#[mutex("payment")]
static AMOUNT: u64 = 1;

fn main() {}
