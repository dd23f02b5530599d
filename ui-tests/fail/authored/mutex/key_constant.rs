//! R18
use warp_runtime::prelude::*;

#[mutex(concat!("pay", "ment"))]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
