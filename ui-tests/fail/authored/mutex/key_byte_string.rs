//! R18
use warp_runtime::prelude::*;

#[mutex(b"payment")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail;

fn main() {}
