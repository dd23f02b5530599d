//! R18
use warp_runtime::prelude::*;

#[mutex("payment", mode = "wait", mode = "skip")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
