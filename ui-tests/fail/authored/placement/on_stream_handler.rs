//! R11
use warp_runtime::prelude::*;

mod warp {
    pub(crate) trait StreamHandler<S> {}
}

struct WatchPrice;
struct Prices;

#[mutex("prices")]
impl warp::StreamHandler<WatchPrice> for Prices {}

fn main() {}
