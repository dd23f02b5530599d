//! R16
use warp_runtime::prelude::*;

const MAX_RATE: u64 = 4_294_967_296;

#[rate_limit("api", count = MAX_RATE, per_seconds = 60)]
#[derive(Serialize, Deserialize, Job)]
struct Payment;

fn main() {}
