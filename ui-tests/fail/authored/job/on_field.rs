//! R7
use warp_runtime::prelude::*;

#[derive(Serialize, Deserialize, Job)]

struct SendEmail {
    #[job(name = "to")]
    to: String,
}

fn main() {}
