//! R17, R30
use warp_runtime::prelude::*;

#[mutex("mail:{too|hash}")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
