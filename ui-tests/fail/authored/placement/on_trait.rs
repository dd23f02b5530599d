//! R10
use warp_runtime::prelude::*;

#[mutex("payment")]
trait Send {}

fn main() {}
