//! R30: there is no one contract whose fields could be read.
use warp_runtime::prelude::*;

struct Logger;

#[mutex("log:{to}")]
impl<J: Job> JobHandler<J> for Logger {
    async fn handle(&self, _job: J, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

fn main() {}
