//! R18, S22
use warp_runtime::prelude::*;

#[semaphore("api", limit = 5, max_concurrent = 5)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
