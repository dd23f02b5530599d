//! R16
use warp_runtime::prelude::*;

#[rate_limit("api", count = 10.5, per = "1s")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail;

fn main() {}
