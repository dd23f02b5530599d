//! R17
use warp_runtime::prelude::*;

#[mutex("pay\nment")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
