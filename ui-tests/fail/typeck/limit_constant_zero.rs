//! R16
use warp_runtime::prelude::*;

const SLOTS: u32 = 0;

#[semaphore("api", limit = SLOTS)]
#[derive(Serialize, Deserialize, Job)]
struct Payment;

fn main() {}
