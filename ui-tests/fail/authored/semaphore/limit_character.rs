//! R16
use warp_runtime::prelude::*;

#[semaphore("api", limit = '5')]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail;

fn main() {}
