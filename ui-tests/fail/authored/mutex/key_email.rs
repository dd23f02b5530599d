//! R17
use warp_runtime::prelude::*;

#[mutex("ann@example.org")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
