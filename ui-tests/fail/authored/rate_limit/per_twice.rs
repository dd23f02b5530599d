//! R18
use warp_runtime::prelude::*;

#[rate_limit("api", count = 1, per = "1s", per = "1m")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail;

fn main() {}
