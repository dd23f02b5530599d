//! R5: a policy that would get lost.
use warp_runtime::prelude::*;

#[mutex("payment")]
#[derive(Serialize, Deserialize)]
struct Payment;

impl Job for Payment {
    const NAME: &'static str = "payment";
}

fn main() {}
