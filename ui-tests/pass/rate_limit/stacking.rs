//! R15: different keys stack, up to eight, in the order in which they are written.
use warp_runtime::prelude::*;
use warp_runtime::rate_limit as at_most;
use warp_ui_tests::{keys, on_contract, on_handler};

#[rate_limit("a", count = 1, per_seconds = 1)]
#[rate_limit("b", count = 1, per_seconds = 1)]
#[semaphore("m", limit = 2)]
#[derive(Serialize, Deserialize, Job)]
#[rate_limit("c", count = 1, per_seconds = 1)]
struct Three;

#[rate_limit("1", count = 1, per_seconds = 1)]
#[rate_limit("2", count = 1, per_seconds = 1)]
#[rate_limit("3", count = 1, per_seconds = 1)]
#[rate_limit("4", count = 1, per_seconds = 1)]
#[rate_limit("5", count = 1, per_seconds = 1)]
#[rate_limit("6", count = 1, per_seconds = 1)]
#[rate_limit("7", count = 1, per_seconds = 1)]
#[rate_limit("8", count = 1, per_seconds = 1)]
impl JobHandler<Three> for Three {
    async fn handle(&self, _job: Three, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

/// One alias is seen through: it counts those below it like any other.
#[at_most("a", count = 1, per_seconds = 1)]
#[warp_runtime::rate_limit("b", count = 1, per_seconds = 1)]
#[derive(Serialize, Deserialize, Job)]
struct Aliased;

fn main() {
    assert_eq!(keys(&on_contract::<Three>()), ["m", "a", "b", "c"]);
    assert_eq!(
        keys(&on_handler::<Three, Three>("Three", "Three")),
        ["1", "2", "3", "4", "5", "6", "7", "8"]
    );
    assert_eq!(keys(&on_contract::<Aliased>()), ["a", "b"]);
}
