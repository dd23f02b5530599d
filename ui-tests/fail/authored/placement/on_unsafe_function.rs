//! R10
use warp_runtime::prelude::*;

#[mutex("payment")]
pub unsafe extern "C" fn pay() {}

fn main() {}
