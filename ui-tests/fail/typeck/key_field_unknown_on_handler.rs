//! R30: on a handler it is the handler's contract that has the field.
use warp_runtime::prelude::*;

#[derive(Serialize, Deserialize, Job)]
struct Payment {
    cents: u64,
}

struct Payments;

#[mutex("payment:{cent}")]
impl JobHandler<Payment> for Payments {
    async fn handle(&self, _job: Payment, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

fn main() {}
