//! R11: imported under another name.
use warp_runtime::StreamHandler as Watches;
use warp_runtime::prelude::*;

struct WatchPrice;

impl StreamRequest for WatchPrice {
    type Item = u64;
}

struct Prices;

#[mutex("prices")]
impl Watches<WatchPrice> for Prices {
    fn handle(&self, _request: WatchPrice) -> impl futures_util::Stream<Item = u64> + Send {
        futures_util::stream::iter([100])
    }
}

fn main() {}
