//! R16: `per` takes a text.
use warp_runtime::prelude::*;

#[rate_limit("api", count = 1, per_seconds = "1m")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail;

fn main() {}
