//! R18
use warp_runtime::prelude::*;

#[derive(Serialize, Deserialize, Job)]
#[job("a")]
struct SendEmail;

fn main() {}
