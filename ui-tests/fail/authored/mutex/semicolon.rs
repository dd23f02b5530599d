//! R18
use warp_runtime::prelude::*;

#[mutex("payment"; mode = "wait")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail;

fn main() {}
