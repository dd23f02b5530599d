//! R16: a zero is a zero in any base.
use warp_runtime::prelude::*;

#[semaphore("api", limit = 0x0_u32)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail;

fn main() {}
