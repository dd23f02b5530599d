//! R30: the key of a handler reads the contract from where the handler stands.
use warp_runtime::prelude::*;

mod contracts {
    use warp_runtime::prelude::*;

    #[derive(Serialize, Deserialize, Job)]
    pub struct Payment {
        cents: u64,
    }
}

struct Payments;

#[mutex("payment:{cents}")]
impl JobHandler<contracts::Payment> for Payments {
    async fn handle(&self, _job: contracts::Payment, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

fn main() {}
