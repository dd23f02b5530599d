//! R14: an alias hides the pair from the macro; the second hidden constant does not compile.
use warp_runtime::mutex as only_one;
use warp_runtime::prelude::*;

#[mutex("a")]
#[only_one("b")]
#[derive(Serialize, Deserialize, Job)]
struct Payment;

fn main() {}
