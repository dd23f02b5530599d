//! R16
use warp_runtime::prelude::*;

static SLOTS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(4);

#[semaphore("api", limit = SLOTS.load(std::sync::atomic::Ordering::Relaxed))]
#[derive(Serialize, Deserialize, Job)]
struct Payment;

fn main() {}
