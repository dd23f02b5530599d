//! S22: so is the key below
use warp_runtime::prelude::*;

#[rate_limit("x", count = 0, per_seconds = 1)]
#[rate_limit("x", count = 1)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
