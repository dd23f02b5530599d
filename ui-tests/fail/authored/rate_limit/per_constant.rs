//! R16
use warp_runtime::prelude::*;

const WINDOW: &str = "1m";

#[rate_limit("api", count = 1, per = WINDOW)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail;

fn main() {}
