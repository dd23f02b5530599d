//! R10
use warp_runtime::prelude::*;

struct Mailer;

impl Mailer {
    #[mutex("smtp")]
    const SLOTS: u32 = 3;
}

fn main() {}
