//! R10
use warp_runtime::prelude::*;

#[mutex("payment")]
pub(crate) static mut AMOUNT: u64 = 1;

fn main() {}
