//! R14
use warp_runtime::mutex as only_one;
use warp_runtime::prelude::*;

#[derive(Serialize, Deserialize, Job)]
struct Payment;

struct Payments;

#[mutex("a")]
#[only_one("b")]
impl JobHandler<Payment> for Payments {
    async fn handle(&self, _job: Payment, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

fn main() {}
