//! R16: the compiler sees it before the cap does.
use warp_runtime::prelude::*;

const SLOTS: u32 = 4_000_000_000;

#[semaphore("api", limit = 2 * SLOTS)]
#[derive(Serialize, Deserialize, Job)]
struct Payment;

fn main() {}
