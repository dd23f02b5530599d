//! R10
use warp_runtime::prelude::*;

#[mutex("payment")]
pub use core::fmt;

fn main() {}
