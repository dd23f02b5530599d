//! R10
use warp_runtime::prelude::*;

#[mutex("payment")]
macro_rules! payment {
    () => {};
}

fn main() {
    payment!();
}
