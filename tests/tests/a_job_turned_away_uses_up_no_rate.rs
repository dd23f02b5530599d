//! S07: a job that its mutex refuses spends no token, whatever the order and place of the attributes.

use std::time::Duration;

use warp_runtime::prelude::*;
use warp_runtime::registry;
use warp_tests::{Witness, World, start};

struct Runner(Witness);

macro_rules! scenario {
    ($name:ident, [$($on_job:tt)*], [$($on_handler:tt)*]) => {
        #[tokio::test(start_paused = true)]
        async fn $name() {
            $($on_job)*
            #[derive(Debug, Serialize, Deserialize, Job)]
            #[job(name = "X")]
            struct X;

            #[derive(Debug, Serialize, Deserialize, Job)]
            #[rate_limit("partner", count = 3, per_seconds = 60, mode = "wait", style = "sliding")]
            #[job(name = "Y")]
            struct Y;

            $($on_handler)*
            impl JobHandler<X> for Runner {
                async fn handle(&self, _: X, ctx: &JobContext) -> JobResult {
                    self.0.work("x", ctx, Duration::from_secs(20)).await;
                    Ok(())
                }
            }

            impl JobHandler<Y> for Runner {
                async fn handle(&self, _: Y, ctx: &JobContext) -> JobResult {
                    self.0.work("y", ctx, Duration::ZERO).await;
                    Ok(())
                }
            }

            let world = World::new();
            let runner = || Runner(world.witness.clone());
            let worker = start(world.worker().handler::<X, _>(runner()).handler::<Y, _>(runner()));
            world.publisher.enqueue(X).await.unwrap();
            world.until(0.1).await;
            world.publisher.enqueue(X).await.unwrap();
            world.until(10.0).await;
            world.publisher.enqueue_all([Y, Y]).await.unwrap();
            world.until(19.9).await;
            let starts: Vec<f64> = world.witness.starts().iter().map(|at| at.round()).collect();
            assert_eq!(starts, [0.0, 10.0, 10.0], "until the mutex is free, three starts are on record");
            world.until_all_ended().await;
            worker.stop().await;

            let starts: Vec<f64> = world.witness.starts().iter().map(|at| at.round()).collect();
            assert_eq!(starts, [0.0, 10.0, 10.0, 60.0], "the second X starts when the first one's start has left the window");
            assert_eq!(world.witness.of("x").len(), 2);
        }
    };
}

scenario!(
    with_the_mutex_above_on_the_job,
    [
        #[mutex("acct-7", mode = "wait")]
        #[rate_limit("partner", count = 3, per_seconds = 60, mode = "wait", style = "sliding")]
    ],
    []
);
scenario!(
    with_the_rate_limit_above_on_the_job,
    [
        #[rate_limit("partner", count = 3, per_seconds = 60, mode = "wait", style = "sliding")]
        #[mutex("acct-7", mode = "wait")]
    ],
    []
);
scenario!(
    with_both_on_the_handler,
    [],
    [
        #[rate_limit("partner", count = 3, per_seconds = 60, mode = "wait", style = "sliding")]
        #[mutex("acct-7", mode = "wait")]
    ]
);
scenario!(
    with_the_mutex_on_the_job_and_the_rate_limit_on_the_handler,
    [#[mutex("acct-7", mode = "wait")]],
    [#[rate_limit("partner", count = 3, per_seconds = 60, mode = "wait", style = "sliding")]]
);
scenario!(
    with_the_rate_limit_on_the_job_and_the_mutex_on_the_handler,
    [#[rate_limit("partner", count = 3, per_seconds = 60, mode = "wait", style = "sliding")]],
    [#[mutex("acct-7", mode = "wait")]]
);

/// R33: the same size everywhere is no conflict.
#[test]
fn the_declarations_of_this_program_do_not_conflict() {
    assert!(registry().conflicts().is_empty());
}
