//! R18, S22
use warp_runtime::prelude::*;

#[rate_limit("x", count = 10, per_second = 60)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
