//! R16
use warp_runtime::prelude::*;

#[semaphore("api", limit = 340282366920938463463374607431768211456)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
