//! R18, S22
use warp_runtime::prelude::*;

#[semaphore("a{", limit = 0, mode = 1, limits = 3)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
