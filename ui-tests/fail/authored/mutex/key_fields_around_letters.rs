//! R34: a letter may belong to the value.
use warp_runtime::prelude::*;

#[mutex("{to}x{to|hash}")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
