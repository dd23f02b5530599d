//! R16
use warp_runtime::prelude::*;

#[semaphore("api", limit = 4_294_967_296)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
