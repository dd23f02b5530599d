//! R14
use warp_runtime::prelude::*;

#[semaphore("a", limit = 2)]
#[mutex("a")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
