//! R10: the block is the handler, not its method.
use warp_runtime::prelude::*;

#[derive(Serialize, Deserialize, Job)]
struct SendEmail;

struct Mailer;

impl JobHandler<SendEmail> for Mailer {
    #[semaphore("smtp", limit = 3)]
    async fn handle(&self, _job: SendEmail, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

fn main() {}
