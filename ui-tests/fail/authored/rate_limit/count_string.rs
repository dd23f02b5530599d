//! R16
use warp_runtime::prelude::*;

#[rate_limit("api", count = "25", per = "1s")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail;

fn main() {}
