//! R10: the type is named as it is written.
use warp_runtime::prelude::*;

trait Sends {}

struct Mailer;

#[mutex("smtp")]
impl Sends for &'static mut Mailer {}

fn main() {}
