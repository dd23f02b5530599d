//! A few hundred jobs under every kind of limit, and a judgement of whether the limits were kept.
//!
//! ```text
//! cargo run --example quickstart
//! ```
//!
//! Takes about 20 seconds. The table at the end is made from what the handlers recorded themselves, not from the store's own books; the
//! exit code is not zero if any limit was exceeded.
#![expect(clippy::print_stdout, reason = "this is what the example is for")]

mod jobs;
mod progress;
mod record;
mod report;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use tokio::sync::oneshot;
use warp_runtime::prelude::*;

use crate::jobs::{Desk, enqueue_everything};
use crate::progress::watch_until_all_ended;
use crate::record::Record;
use crate::report::{Report, limits};

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let storage = Storage::from(Memory::new());
    let record = Record::default();
    let desk = || Desk::new(storage.clone(), record.clone());
    let worker = Worker::builder(storage.clone())
        .handler::<jobs::RefreshCache, _>(desk())
        .handler::<jobs::ResizeImage, _>(desk())
        .handler::<jobs::SendEmail, _>(desk())
        .handler::<jobs::CallPartner, _>(desk())
        .handler::<jobs::ReadMeter, _>(desk())
        .handler::<jobs::ExportReport, _>(desk())
        .handler::<jobs::ChargeCustomer, _>(desk())
        .handler::<jobs::SyncContact, _>(desk())
        .concurrency(32)
        .retry(Retry::attempts(2).with_delays(Duration::from_millis(200), Duration::from_secs(1)))
        .build()?;

    let (shutdown, stopped) = oneshot::channel::<()>();
    let worker = tokio::spawn(worker.run_until(async {
        let _ = stopped.await;
    }));
    let enqueued = enqueue_everything(&Publisher::new(storage.clone())).await?;
    println!("{enqueued} jobs enqueued\n");
    watch_until_all_ended(&storage).await?;
    let _ = shutdown.send(());
    worker.await??;

    let report = Report::new(&storage, &record, &limits()).await?;
    println!("\n{report}");
    Ok(if report.is_kept() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
