//! S18
use warp_runtime::prelude::*;

#[mutex("payment", crate = warp_runtime)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
