//! R18, S22
use warp_runtime::prelude::*;

#[rate_limit("x\ty", count = 0, per_seconds = 0, per = "1", mode = "weit", style = "fix")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
