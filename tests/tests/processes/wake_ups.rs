//! R44: what one process does starts what waits in another one.

use std::time::Duration;

use warp_runtime::prelude::*;
use warp_tests::processes::{Judge, Office, Outcome, Transfer};

use crate::stop;

in_each_place! {
    an_idle_process_learns_what_another_one_did,
}

/// R44: what is enqueued here starts in an idle process there, and what is freed there starts a job that waits for it elsewhere.
async fn an_idle_process_learns_what_another_one_did(office: &Office) -> Outcome {
    // So long that nobody looks by himself before the watchdog does.
    let lease = Duration::from_hours(1);
    let processes = ["here", "there"].map(|name| office.start(name, name, lease));
    let in_queue = |queue: &str| JobParameters::new().with_queue(queue);
    let mut done = 0;
    for _ in 0..20 {
        for queue in ["here", "there"] {
            let transfer = Transfer { account: 0 };
            let parameters = in_queue(queue);
            office.publisher.enqueue_with(transfer, parameters).await?;
            done += 1;
        }
        office
            .until(async || Ok(office.succeeded().await? >= done))
            .await?;
    }
    stop(processes.into()).await;
    let judge = Judge::new(&office.notebook.read());
    assert_eq!(judge.most_at_once("account:0"), 1);
    Ok(())
}
