//! R16
use warp_runtime::prelude::*;

mod limits {
    pub(crate) const MAX_RATE: u32 = 0;
}

#[rate_limit("api", count = limits::MAX_RATE, per_seconds = 60)]
#[derive(Serialize, Deserialize, Job)]
struct Payment;

fn main() {}
