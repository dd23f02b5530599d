//! R16: nor does `Self` name one type there.
use warp_runtime::prelude::*;

#[derive(Serialize, Deserialize, Job)]
struct Payment;

struct Payments<const N: u32>;

#[semaphore("api", limit = Self::SLOTS)]
impl<const N: u32> JobHandler<Payment> for Payments<N> {
    async fn handle(&self, _job: Payment, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

impl<const N: u32> Payments<N> {
    const SLOTS: u32 = N;
}

fn main() {}
