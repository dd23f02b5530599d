//! R16: `Self` is the contract.
use warp_runtime::prelude::*;

#[semaphore("api", limit = Self::SLOTS)]
#[derive(Serialize, Deserialize, Job)]
struct Payment;

fn main() {}
