//! What the workers run.

use std::time::Duration;

use warp_runtime::prelude::*;
use warp_tests::Witness;

#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
#[mutex("trouble", mode = "wait")]
pub(crate) struct Task;

pub(crate) struct Runner(pub(crate) Witness);

impl JobHandler<Task> for Runner {
    async fn handle(&self, _: Task, ctx: &JobContext) -> JobResult {
        self.0.work("task", ctx, Duration::from_secs(10)).await;
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
pub(crate) struct LongTask;

impl JobHandler<LongTask> for Runner {
    async fn handle(&self, _: LongTask, ctx: &JobContext) -> JobResult {
        self.0.work("long", ctx, Duration::from_secs(300)).await;
        Ok(())
    }
}

/// Says when it was asked to end, and goes on.
pub(crate) struct Stubborn(pub(crate) Witness);

impl JobHandler<Task> for Stubborn {
    async fn handle(&self, _: Task, ctx: &JobContext) -> JobResult {
        let asked = async {
            ctx.cancelled().await;
            let work = self.0.work("asked to end", ctx, Duration::from_hours(1));
            work.await;
        };
        self.0.watch("stubborn", ctx, asked).await;
        Ok(())
    }
}
