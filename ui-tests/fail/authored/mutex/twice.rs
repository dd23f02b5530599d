//! R14
use warp_runtime::prelude::*;

#[mutex("a")]
#[mutex("b")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
