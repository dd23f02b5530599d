//! R10: a trait without a type argument is no handler trait.
use warp_runtime::prelude::*;

struct Mailer;

#[semaphore("smtp", limit = 3)]
impl Drop for Mailer {
    fn drop(&mut self) {}
}

fn main() {}
