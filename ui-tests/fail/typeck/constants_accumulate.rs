//! S22
use warp_runtime::prelude::*;

const ZERO: u32 = 0;

#[rate_limit("api", count = ZERO, per_seconds = ZERO as u64)]
#[derive(Serialize, Deserialize, Job)]
struct Payment;

fn main() {}
