//! R16: a size of something else is converted by its author.
use warp_runtime::prelude::*;

const SLOTS: usize = 4;

#[semaphore("api", limit = SLOTS)]
#[derive(Serialize, Deserialize, Job)]
struct Payment;

fn main() {}
