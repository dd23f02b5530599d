//! R16
use warp_runtime::prelude::*;

#[rate_limit("api", count = 1, per = "1.5ms")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail;

fn main() {}
