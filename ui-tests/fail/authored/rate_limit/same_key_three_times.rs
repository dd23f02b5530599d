//! R15: two too many, two errors
use warp_runtime::prelude::*;

#[rate_limit("x", count = 1, per_seconds = 1)]
#[rate_limit("x", count = 10, per_seconds = 60)]
#[rate_limit(r"x", count = 100, per_seconds = 3600)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
