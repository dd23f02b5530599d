//! S23: the compiler's own error, and nothing from the attribute.
use warp_runtime::prelude::*;

#[derive(Serialize, Deserialize, Job)]
struct Payment;

struct Payments;

#[mutex("payment")]
impl JobHandler<Payment> for Payments {
    async fn handle(&self, job: Payment, _ctx: &JobContext) -> JobResult {
        job.
    }
}

fn main() {}
