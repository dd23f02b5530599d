//! R16
use warp_runtime::prelude::*;

#[rate_limit("api", count = 0x1_0000_0000, per = "1s")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail;

fn main() {}
