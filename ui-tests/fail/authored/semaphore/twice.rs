//! R14
use warp_runtime::prelude::*;

#[semaphore("a", limit = 2)]
#[semaphore("b", limit = 2)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
