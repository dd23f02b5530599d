//! R18, S22
use warp_runtime::prelude::*;

#[rate_limit("x", per_seconds = 60)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
