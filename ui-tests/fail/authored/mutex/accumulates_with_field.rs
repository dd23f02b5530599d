//! S22: the key is judged whatever else is wrong
use warp_runtime::prelude::*;

#[mutex("mail:{too}", mode = "waitt")]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
