//! R16
use warp_runtime::prelude::*;

#[rate_limit("x", count = 10_001, per_seconds = 60, style = "sliding")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
