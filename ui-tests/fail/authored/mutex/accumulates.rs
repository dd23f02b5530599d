//! R18, S22: every mistake of one attribute in one go
use warp_runtime::prelude::*;

#[mutex("", mode = "waitt", mod = "wait", crate = x)]
#[derive(Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

fn main() {}
