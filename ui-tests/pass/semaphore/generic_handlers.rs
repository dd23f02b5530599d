//! S19: the policy belongs to the block, however many types it stands for.
use std::ptr;

use warp_runtime::prelude::*;
use warp_ui_tests::{concurrency, keys, on_handler};

trait Sink: Send + Sync {}

#[derive(Clone)]
struct Disk;
impl Sink for Disk {}

#[derive(Clone)]
struct Memory;
impl Sink for Memory {}

#[derive(Serialize, Deserialize, Job)]
struct Upload {
    name: String,
}

struct Runner<S, const N: usize = 1>(S, [u8; N]);

#[semaphore("api", limit = 5)]
#[rate_limit("api:{name}", count = 1, per = "1s")]
impl<S, const N: usize> JobHandler<Upload> for Runner<S, N>
where
    S: Sink + Clone + 'static,
{
    async fn handle(&self, job: Upload, _ctx: &JobContext) -> JobResult {
        drop((self.0.clone(), self.1, job.name));
        Ok(())
    }
}

/// Generic over the contract too, hence with a fixed key.
struct Logger;

#[semaphore("log", limit = 2)]
impl<J: Job> JobHandler<J> for Logger {
    async fn handle(&self, _job: J, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

struct Plain;

impl JobHandler<Upload> for Plain {
    async fn handle(&self, _job: Upload, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

fn main() {
    let disk = on_handler::<Upload, Runner<Disk, 4>>("Runner<S, N>", "Upload");
    let memory = on_handler::<Upload, Runner<Memory, 8>>("Runner<S, N>", "Upload");
    assert_eq!(keys(&disk), ["api", "api:{name}"]);
    assert!(
        ptr::eq(concurrency(&disk), concurrency(&memory)),
        "one declaration for both"
    );
    assert_eq!(concurrency(&disk).limit(), 5);

    assert_eq!(keys(&on_handler::<Upload, Logger>("Logger", "J")), ["log"]);
    assert_eq!(
        keys(&on_handler::<Upload, Plain>("Plain", "Upload")),
        [""; 0]
    );
}
