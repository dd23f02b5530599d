//! R7
use warp_runtime::prelude::*;

#[derive(Serialize, Deserialize, Job)]
#[job(name = "")]
struct SendEmail;

fn main() {}
