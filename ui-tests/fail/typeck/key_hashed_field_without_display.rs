//! R30: what is hashed is what `Display` writes.
use warp_runtime::prelude::*;

#[mutex("payment:{cents|hash}")]
#[derive(Serialize, Deserialize, Job)]
struct Payment {
    cents: Vec<u64>,
}

fn main() {}
