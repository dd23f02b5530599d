//! R18
use warp_runtime::prelude::*;

#[mutex("payment", 5)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
