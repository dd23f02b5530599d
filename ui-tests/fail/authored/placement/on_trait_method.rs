//! R10
use warp_runtime::prelude::*;

trait Sends {
    #[mutex("smtp")]
    fn send(&self);
}

fn main() {}
