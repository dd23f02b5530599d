//! R16
use warp_runtime::prelude::*;

const DAY: u64 = 86_400;

#[rate_limit("api", count = 1, per_seconds = 8 * DAY)]
#[derive(Serialize, Deserialize, Job)]
struct Payment;

fn main() {}
