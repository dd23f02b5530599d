//! S20: an attribute that takes the block apart and puts it together again. (`async fn handle` is not for it: it would box what the trait
//! does not ask to be boxed.)

use std::future::{ready, Future};

use jobs::prelude::*;
use warp_ui_tests::{keys, on_handler};

#[derive(Serialize, Deserialize, Job)]
#[job(crate = ::jobs)]
struct SendEmail;

struct Above;
struct Below;

#[semaphore("above", limit = 2, crate = ::jobs)]
#[async_trait::async_trait]
impl JobHandler<SendEmail> for Above {
    fn handle(&self, _: SendEmail, _: &JobContext) -> impl Future<Output = JobResult> + Send {
        ready(Ok(()))
    }
}

#[async_trait::async_trait]
#[semaphore("below", limit = 2, crate = ::jobs)]
impl JobHandler<SendEmail> for Below {
    fn handle(&self, _: SendEmail, _: &JobContext) -> impl Future<Output = JobResult> + Send {
        ready(Ok(()))
    }
}

/// S20: an attribute that rewrites the methods, above and below.
#[test]
fn an_attribute_that_rewrites_the_block_may_stand_on_either_side() {
    assert_eq!(
        keys(&on_handler::<SendEmail, Above>("Above", "SendEmail")),
        ["above"]
    );
    assert_eq!(
        keys(&on_handler::<SendEmail, Below>("Below", "SendEmail")),
        ["below"]
    );
}
