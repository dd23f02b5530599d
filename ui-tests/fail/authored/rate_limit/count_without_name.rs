//! R18
use warp_runtime::prelude::*;

#[rate_limit("x", 10, per_seconds = 60)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
