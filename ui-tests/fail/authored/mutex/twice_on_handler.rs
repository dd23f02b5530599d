//! R14
use warp_runtime::prelude::*;

#[derive(Serialize, Deserialize, Job)]
struct SendEmail;

struct Mailer;

#[mutex("a")]
#[semaphore("b", limit = 2)]
impl JobHandler<SendEmail> for Mailer {
    async fn handle(&self, _job: SendEmail, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

fn main() {}
