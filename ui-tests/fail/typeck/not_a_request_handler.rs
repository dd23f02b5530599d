//! R2
use warp_runtime::prelude::*;

struct GetPrice;

impl Request for GetPrice {
    type Response = u64;
}

struct Prices;

fn requests() -> Requests {
    Requests::new().handler::<GetPrice, _>(Prices)
}

fn main() {}
