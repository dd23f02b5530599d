//! R18: one message, the limit is not missing too
use warp_runtime::prelude::*;

#[semaphore("api", limt = 5)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
