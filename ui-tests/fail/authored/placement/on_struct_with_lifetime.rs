//! R10: a job owns what it holds.
use warp_runtime::prelude::*;

#[mutex("mail")]
struct SendEmail<'a> {
    to: &'a str,
}

fn main() {}
