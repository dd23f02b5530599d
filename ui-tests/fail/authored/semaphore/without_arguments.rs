//! R18
use warp_runtime::prelude::*;

#[semaphore]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
