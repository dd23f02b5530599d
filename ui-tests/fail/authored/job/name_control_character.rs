//! R7
use warp_runtime::prelude::*;

#[derive(Serialize, Deserialize, Job)]
#[job(name = "send\0email")]
struct SendEmail;

fn main() {}
