//! R17, R30
use warp_runtime::prelude::*;

#[mutex("mail:{to|sha256}")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
