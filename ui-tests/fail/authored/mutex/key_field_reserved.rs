//! R17: the rulebook cannot know it, Rust does
use warp_runtime::prelude::*;

#[mutex("mail:{self}")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
