//! A few hundred jobs under every kind of limit, and a judgement of whether the limits were kept.
//!
//! ```text
//! cargo run --example quickstart
//! cargo run --example quickstart -- --keep jobs.db
//! ```
//!
//! Takes about 20 seconds. The table at the end is made from what the handlers recorded themselves, not from the store's own books; the
//! exit code is not zero if any limit was exceeded. With `--keep` the file stays, and a run that was interrupted, or killed, is taken up
//! again by the next one.
#![expect(clippy::print_stdout, reason = "this is what the example is for")]

mod file;
mod jobs;
mod progress;
mod record;
mod report;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use tokio::sync::oneshot;
use warp_runtime::prelude::*;

use crate::file::File;
use crate::jobs::{Desk, enqueue_everything};
use crate::progress::watch_until_all_ended;
use crate::record::Record;
use crate::report::{Report, limits};

/// A few hundred jobs under every kind of limit.
#[derive(Debug, Parser)]
struct Arguments {
    /// Keep the jobs in this file; what an earlier run left in it is done first. Without: a file that is removed at the end.
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(code) => code,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<ExitCode, Box<dyn Error>> {
    let file = File::open(Arguments::parse().keep).await?;
    let storage = file.storage.clone();
    println!("the jobs are kept in {}", storage.file().display());
    let left = file.unfinished(jobs::KINDS).await?;
    let ids = if left.is_empty() {
        enqueue_everything(&storage).await?
    } else {
        left.clone()
    };
    match left.len() {
        0 => println!("{} jobs enqueued\n", ids.len()),
        left => println!("{left} jobs were left by an earlier run\n"),
    }

    let record = Record::default();
    let (shutdown, stopped) = oneshot::channel::<()>();
    let worker = worker(&storage, &record)?;
    let worker = tokio::spawn(worker.run_until(async {
        let _ = stopped.await;
    }));
    let is_done = tokio::select! {
        watched = watch_until_all_ended(&storage, &ids) => watched.map(|()| true)?,
        _ = tokio::signal::ctrl_c() => false,
    };
    let _ = shutdown.send(());
    worker.await??;

    let report = Report::new(&storage, &ids, &record, &limits()).await?;
    println!("\n{report}");
    if !is_done {
        println!("interrupted: {}", file.what_stays());
    }
    let is_good = report.is_kept() && (report.is_complete() || !is_done || !left.is_empty());
    file.close().await?;
    Ok(if is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// A worker with a handler for every job. Its lease is short, so that what a killed run was doing is soon taken up again.
fn worker(storage: &Sqlite, record: &Record) -> Result<Worker, Box<dyn Error>> {
    let desk = || Desk::new(storage.clone().into(), record.clone());
    let retry = Retry::attempts(2).with_delays(Duration::from_millis(200), Duration::from_secs(1));
    Ok(Worker::builder(storage.clone())
        .handler::<jobs::RefreshCache, _>(desk())
        .handler::<jobs::ResizeImage, _>(desk())
        .handler::<jobs::SendEmail, _>(desk())
        .handler::<jobs::CallPartner, _>(desk())
        .handler::<jobs::ReadMeter, _>(desk())
        .handler::<jobs::ExportReport, _>(desk())
        .handler::<jobs::ChargeCustomer, _>(desk())
        .handler::<jobs::SyncContact, _>(desk())
        .concurrency(32)
        .retry(retry)
        .lease(Duration::from_secs(6))
        .grace(Duration::from_secs(1))
        .build()?)
}
