//! R18
use warp_runtime::prelude::*;

#[rate_limit("api", count = 1, limit = 1, per = "1s")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail;

fn main() {}
