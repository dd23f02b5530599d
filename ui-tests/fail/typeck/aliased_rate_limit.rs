//! R15: an alias must not make one of the two disappear.
use warp_runtime::prelude::*;
use warp_runtime::rate_limit as at_most;

#[rate_limit("a", count = 1, per_seconds = 1)]
#[at_most("b", count = 1, per_seconds = 1)]
#[derive(Serialize, Deserialize, Job)]
struct Payment;

fn main() {}
