//! R18: what else is missing shows after the name is right
use warp_runtime::prelude::*;

#[rate_limit("x", limit = 10, per_seconds = 60)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
