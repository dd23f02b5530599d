//! R16
use warp_runtime::prelude::*;

const SLOTS: i32 = -1;

#[semaphore("api", limit = SLOTS)]
#[derive(Serialize, Deserialize, Job)]
struct Payment;

fn main() {}
