//! R11: whatever stands before the trait's name.
use warp_runtime::prelude::*;

struct WatchPrice;

impl StreamRequest for WatchPrice {
    type Item = u64;
}

struct Prices;

#[mutex("prices")]
impl warp_runtime::StreamHandler<WatchPrice> for Prices {
    fn handle(&self, _request: WatchPrice) -> impl futures_util::Stream<Item = u64> + Send {
        futures_util::stream::iter([100])
    }
}

fn main() {
    let _ = Requests::new().stream_handler::<WatchPrice, _>(Prices);
}
