//! R11
use warp_runtime::prelude::*;

trait RequestHandler<R> {}

struct GetPrice;
struct Prices;

#[rate_limit("prices", count = 10, per_seconds = 60)]
impl RequestHandler<GetPrice> for Prices {}

fn main() {}
