//! R16
use warp_runtime::prelude::*;

const MAX_RATE: u32 = 10_001;

#[rate_limit("api", count = MAX_RATE, per_seconds = 60, style = "sliding")]
#[derive(Serialize, Deserialize, Job)]
struct Payment;

fn main() {}
