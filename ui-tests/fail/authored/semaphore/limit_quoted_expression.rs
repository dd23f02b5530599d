//! R16: nothing to suggest in the quotes.
use warp_runtime::prelude::*;

#[semaphore("api", limit = "a few")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail;

fn main() {}
