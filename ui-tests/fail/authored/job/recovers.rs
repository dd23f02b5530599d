//! S23: one wrong argument in an attribute is the only error, however much depends on the item.
use warp_runtime::prelude::*;

#[mutex("mail", mode = "weit")]
#[rate_limit("mail", count = 1, per_seconds = 1)]
#[derive(Clone, Serialize, Deserialize, Job)]
struct SendEmail {
    to: String,
}

struct Mailer;

#[semaphore("smtp", limit = 3)]
impl JobHandler<SendEmail> for Mailer {
    async fn handle(&self, job: SendEmail, _ctx: &JobContext) -> JobResult {
        drop(job.clone().to);
        Ok(())
    }
}

fn main() {
    let _ = <SendEmail as Job>::NAME;
}
