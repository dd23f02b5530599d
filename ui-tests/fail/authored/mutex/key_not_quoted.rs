//! R18, S22
use warp_runtime::prelude::*;

#[mutex(payment)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
