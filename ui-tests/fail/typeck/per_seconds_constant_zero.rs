//! R16
use warp_runtime::prelude::*;

const WINDOW: u64 = 0;

#[rate_limit("api", count = 1, per_seconds = WINDOW)]
#[derive(Serialize, Deserialize, Job)]
struct Payment;

fn main() {}
