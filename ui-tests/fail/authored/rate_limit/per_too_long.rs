//! R16
use warp_runtime::prelude::*;

#[rate_limit("x", count = 10, per = "7days 1ms")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
