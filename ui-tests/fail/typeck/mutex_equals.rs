//! R18: as a name and its value.
use warp_runtime::prelude::*;

#[mutex = "payment"]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail;

fn main() {}
