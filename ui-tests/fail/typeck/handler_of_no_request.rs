//! R2
use warp_runtime::prelude::*;

struct GetPrice;

struct Prices;

impl RequestHandler<GetPrice> for Prices {
    async fn handle(&self, _request: GetPrice) {}
}

fn main() {}
