//! R11: imported under another name.
use warp_runtime::prelude::*;

trait RequestHandler<R> {}
use self::RequestHandler as Answers;

struct GetPrice;
struct Prices;

#[rate_limit("prices", count = 10, per_seconds = 60)]
impl Answers<GetPrice> for Prices {}

fn main() {}
