//! R17
use warp_runtime::prelude::*;

#[mutex("mail:{1}")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail(String);

fn main() {}
