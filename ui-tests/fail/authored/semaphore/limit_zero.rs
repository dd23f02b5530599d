//! R16
use warp_runtime::prelude::*;

#[semaphore("api", limit = 0)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
