//! R18, S22
use warp_runtime::prelude::*;

#[mutex()]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
