//! R30
use warp_runtime::prelude::*;

#[mutex("payment:{cents}")]
#[derive(Serialize, Deserialize, Job)]
struct Payment {
    cents: Vec<u64>,
}

fn main() {}
