//! R10
use warp_runtime::prelude::*;

#[mutex("payment")]
unsafe extern "C" {}

fn main() {}
