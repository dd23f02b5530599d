//! R7
use warp_runtime::prelude::*;

#[derive(Serialize, Deserialize, Job)]
#[job(name = "a", alias = "b", alias = "b")]
struct SendEmail;

fn main() {}
