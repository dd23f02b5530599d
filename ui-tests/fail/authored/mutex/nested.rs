//! R18: as a list in a list.
use warp_runtime::prelude::*;

#[mutex("payment", mode("wait"))]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail;

fn main() {}
