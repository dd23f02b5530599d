//! R11: imported under another name.
use warp_runtime::RequestHandler as Answers;
use warp_runtime::prelude::*;

struct GetPrice;

impl Request for GetPrice {
    type Response = u64;
}

struct Prices;

#[rate_limit("prices", count = 10, per_seconds = 60)]
impl Answers<GetPrice> for Prices {
    async fn handle(&self, _request: GetPrice) -> u64 {
        100
    }
}

fn main() {}
