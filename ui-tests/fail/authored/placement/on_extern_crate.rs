//! R10
use warp_runtime::prelude::*;

#[mutex("payment")]
extern crate core as kernel;

fn main() {}
