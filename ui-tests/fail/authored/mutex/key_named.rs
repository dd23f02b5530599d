//! R18
use warp_runtime::prelude::*;

#[mutex(key = "payment")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
