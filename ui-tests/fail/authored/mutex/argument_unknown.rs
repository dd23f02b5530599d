//! R18
use warp_runtime::prelude::*;

#[mutex("payment", mod = "wait")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
