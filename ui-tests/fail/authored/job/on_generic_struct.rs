//! R7, S19
use warp_runtime::prelude::*;

#[derive(Serialize, Deserialize, Job)]
struct Batch<T>(Vec<T>);

fn main() {}
