//! R11, R12: nor is a stream request.
use warp_runtime::prelude::*;

#[mutex("prices")]
struct WatchPrice;

impl StreamRequest for WatchPrice {
    type Item = u64;
}

fn main() {}
