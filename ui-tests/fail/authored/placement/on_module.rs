//! R10
use warp_runtime::prelude::*;

#[rate_limit("sendgrid", count = 10, per_seconds = 60)]
mod jobs {}

fn main() {}
