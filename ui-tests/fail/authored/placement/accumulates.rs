//! R18, S22: a wrong place and a wrong argument are two mistakes; two attributes in a wrong place are two.
use warp_runtime::prelude::*;

#[mutex("a")]
#[semaphore("b", limit = 0)]
fn send() {}

fn main() {}
