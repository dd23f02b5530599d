//! R10: the trait may be anything; the name of the missing constant is the message.
use warp_runtime::prelude::*;

struct Mailer;

#[semaphore("smtp", limit = 3)]
#[rate_limit("smtp", count = 1, per_seconds = 1)]
impl From<u8> for Mailer {
    fn from(_: u8) -> Self {
        Self
    }
}

fn main() {}
