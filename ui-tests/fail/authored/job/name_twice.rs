//! R18
use warp_runtime::prelude::*;

#[derive(Serialize, Deserialize, Job)]
#[job(name = "a")]
#[job(name = "b")]
struct SendEmail;

fn main() {}
