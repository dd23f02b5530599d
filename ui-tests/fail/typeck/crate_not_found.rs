//! S18
use warp_runtime::prelude::*;

#[mutex("payment", crate = crate::nowhere)]
#[derive(Serialize, Deserialize, Job)]
struct Payment;

fn main() {}
