//! R7: the default name too
use warp_runtime::prelude::*;

#[derive(Serialize, Deserialize, Job)]
#[job(alias = "SendEmail")]
struct SendEmail;

fn main() {}
