//! R15: as many as a job can carry
use warp_runtime::prelude::*;

#[rate_limit("a", count = 1, per_seconds = 1)]
#[rate_limit("b", count = 1, per_seconds = 1)]
#[rate_limit("c", count = 1, per_seconds = 1)]
#[rate_limit("d", count = 1, per_seconds = 1)]
#[rate_limit("e", count = 1, per_seconds = 1)]
#[rate_limit("f", count = 1, per_seconds = 1)]
#[rate_limit("g", count = 1, per_seconds = 1)]
#[rate_limit("h", count = 1, per_seconds = 1)]
#[rate_limit("i", count = 1, per_seconds = 1)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
