//! R10: `const` says nothing where `fn` follows.
use warp_runtime::prelude::*;

#[mutex("payment")]
const fn pay() {}

fn main() {}
