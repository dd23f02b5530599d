//! R17
use warp_runtime::prelude::*;

#[mutex("mail:{too}")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
