//! R17
use warp_runtime::prelude::*;

#[mutex("mail:{to}")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail;

fn main() {}
