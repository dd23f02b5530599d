//! R30
use warp_runtime::prelude::*;

#[derive(Serialize, Deserialize)]
struct Customer {
    id: u32,
}

#[mutex("payment:{customer.idd}")]
#[derive(Serialize, Deserialize, Job)]
struct Payment {
    customer: Customer,
}

fn main() {}
