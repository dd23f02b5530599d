//! R11, R12: a request is no job.
use warp_runtime::prelude::*;

#[rate_limit("prices", count = 10, per_seconds = 60)]
struct GetPrice;

impl Request for GetPrice {
    type Response = u64;
}

fn main() {}
