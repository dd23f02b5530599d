//! R16, R18: both are told.
use warp_runtime::prelude::*;

#[derive(Serialize, Deserialize, Job)]
struct Payment;

struct Payments<const N: u64>;

#[rate_limit("api", count = { N as u32 }, per_seconds = N)]
impl<const N: u64> JobHandler<Payment> for Payments<N> {
    async fn handle(&self, _job: Payment, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

fn main() {}
