//! R16
use warp_runtime::prelude::*;

#[semaphore("api", limit = Self::SLOTS)]
#[derive(Serialize, Deserialize, Job)]
struct Payment;

impl Payment {
    const SLOTS: u32 = 0;
}

fn main() {}
