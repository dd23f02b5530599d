//! R10
use warp_runtime::prelude::*;

struct Mailer;

#[semaphore("smtp", limit = 3)]
impl Mailer {}

fn main() {}
