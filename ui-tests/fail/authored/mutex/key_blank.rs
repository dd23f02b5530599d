//! R17
use warp_runtime::prelude::*;

#[mutex(" \u{a0}")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
