//! R1
use warp_runtime::Job;

#[derive(Job)]
struct Payment;

fn main() {}
