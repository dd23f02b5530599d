//! R18
use warp_runtime::prelude::*;

#[semaphore("api", limit = true)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
