//! R10
use warp_runtime::prelude::*;

#[mutex("payment")]
pub(crate) async fn send(to: &str) {
    let _ = to;
}

fn main() {}
