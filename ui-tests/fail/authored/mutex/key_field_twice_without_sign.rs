//! R34: who is `12`, `3`, and who `1`, `23`?
use warp_runtime::prelude::*;

#[mutex("mail:{to}{to}")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
