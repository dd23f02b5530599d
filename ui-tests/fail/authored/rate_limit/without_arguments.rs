//! R18
use warp_runtime::prelude::*;

#[rate_limit]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
