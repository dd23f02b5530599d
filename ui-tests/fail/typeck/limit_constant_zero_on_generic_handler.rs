//! R16: judged although no worker uses the handler.
use warp_runtime::prelude::*;

const SLOTS: u32 = 0;

#[derive(Serialize, Deserialize, Job)]
struct Payment;

struct Payments<S>(S);

#[semaphore("api", limit = SLOTS)]
impl<S: Send + Sync + 'static> JobHandler<Payment> for Payments<S> {
    async fn handle(&self, _job: Payment, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

fn main() {}
