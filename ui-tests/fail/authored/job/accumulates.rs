//! R18, S22: all at once, and the type is a job all the same: the policy and the handler say nothing.
use warp_runtime::prelude::*;

#[mutex("mail")]
#[derive(Serialize, Deserialize, Job)]
#[job(name = "", alias = 7, crate = warp)]
enum SendEmail {
    #[job]
    Now,
}

struct Mailer;

impl JobHandler<SendEmail> for Mailer {
    async fn handle(&self, _job: SendEmail, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

fn main() {}
