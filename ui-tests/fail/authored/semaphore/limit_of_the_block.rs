//! R16: the policy belongs to the block, however many types that stands for.
use warp_runtime::prelude::*;

#[derive(Serialize, Deserialize, Job)]
struct Payment;

struct Payments<const N: u32>;

#[semaphore("api", limit = 2 * N)]
impl<const N: u32> JobHandler<Payment> for Payments<N> {
    async fn handle(&self, _job: Payment, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

fn main() {}
