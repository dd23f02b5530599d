//! R7
use warp_runtime::Job;

#[derive(Job)]
union Amount {
    cents: u64,
    euros: f64,
}

fn main() {}
