//! R7
use warp_runtime::prelude::*;

#[derive(Serialize, Deserialize, Job)]
#[job(name = send_email)]
struct SendEmail;

fn main() {}
