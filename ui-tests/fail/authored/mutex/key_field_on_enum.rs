//! R17, R30
use warp_runtime::prelude::*;

#[mutex("mail:{to}")]
#[derive(Serialize, Deserialize, Job)]
enum SendEmail {
    One,
    All,
}

fn main() {}
