//! R16
use warp_runtime::prelude::*;

#[semaphore("api", limit = -1)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
