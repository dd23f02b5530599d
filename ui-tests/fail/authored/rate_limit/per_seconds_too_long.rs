//! R16
use warp_runtime::prelude::*;

#[rate_limit("x", count = 10, per_seconds = 604_801)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
