//! R10: the error stands alone, the method stays.
use warp_runtime::prelude::*;

struct Mailer;

impl Mailer {
    #[semaphore("smtp", limit = 3)]
    fn send(&self) {}
}

fn main() {
    Mailer.send();
}
