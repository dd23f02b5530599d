//! R18, S22
use warp_runtime::prelude::*;

#[semaphore("api", 5)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
