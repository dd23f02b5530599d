//! R10
use warp_runtime::prelude::*;

struct Mailer;

#[mutex("smtp")]
unsafe impl Send for Mailer {}

fn main() {}
