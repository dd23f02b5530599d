//! R15
use warp_runtime::prelude::*;

#[derive(Serialize, Deserialize, Job)]
struct SendEmail;

struct Mailer;

#[rate_limit("x", count = 1, per_seconds = 1)]
#[rate_limit("x", count = 10, per_seconds = 60)]
impl JobHandler<SendEmail> for Mailer {
    async fn handle(&self, _job: SendEmail, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

fn main() {}
