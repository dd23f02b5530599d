//! R16: what is no literal is the compiler's.
use warp_runtime::prelude::*;

const MAX_RATE: i64 = 10;

#[rate_limit("api", count = -MAX_RATE, per_seconds = 60)]
#[derive(Serialize, Deserialize, Job)]
struct Payment;

fn main() {}
