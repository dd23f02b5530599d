//! R18
use warp_runtime::prelude::*;

#[semaphore("api", limit = 5.0)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
