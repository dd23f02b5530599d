//! R10
use warp_runtime::prelude::*;

struct Mailer<S>(S);

#[rate_limit("smtp", count = 1, per = "1s")]
impl<S> Mailer<S> {}

fn main() {}
