//! R14
use warp_runtime::prelude::*;

#[mutex("a")]
#[semaphore("a", limit = 2)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
