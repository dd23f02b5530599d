//! R12
use warp_runtime::prelude::*;

#[mutex("payment")]
#[rate_limit("payment", count = 1, per_seconds = 1)]
struct Payment;

fn main() {}
