//! R11
use warp_runtime::prelude::*;

struct GetPrice;

impl Request for GetPrice {
    type Response = u64;
}

struct Prices;

#[rate_limit("prices", count = 10, per_seconds = 60)]
impl RequestHandler<GetPrice> for Prices {
    async fn handle(&self, _request: GetPrice) -> u64 {
        100
    }
}

fn main() {
    let _ = Requests::new().handler::<GetPrice, _>(Prices);
}
