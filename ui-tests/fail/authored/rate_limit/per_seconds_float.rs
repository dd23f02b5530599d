//! R18
use warp_runtime::prelude::*;

#[rate_limit("x", count = 10, per_seconds = 0.5)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
