//! A worker process of the process tests: takes its shift as JSON, works until its standard input ends, and says what that cost.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the test reads it"
)]

use std::error::Error;
use std::io::Read;
use std::process::ExitCode;

use tokio::sync::oneshot;
use warp_tests::processes::{Clerk, Notebook, Shift};

#[tokio::main]
async fn main() -> ExitCode {
    match work().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn work() -> Result<(), Box<dyn Error>> {
    let argument = std::env::args().nth(1).ok_or("no shift given")?;
    let shift: Shift = serde_json::from_str(&argument)?;
    let opened = shift.version.open(&shift.place).await?;
    let clerk = Clerk::new(&shift.process, Notebook::open(&shift.notebook));
    let worker = clerk
        .builder(opened.storage(), shift.trade)
        .name(&shift.process)
        .concurrency(shift.concurrency)
        .lease(shift.lease)
        .queue(shift.queue);
    let input_ends = input_ends();
    worker
        .build()?
        .run_until(async {
            let _ = input_ends.await;
        })
        .await?;
    println!("{}", serde_json::to_string(&opened.costs())?);
    Ok(())
}

/// Ends with the standard input, and so with the test too, however that ends.
fn input_ends() -> oneshot::Receiver<()> {
    let (sender, receiver) = oneshot::channel();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        let _ = sender.send(());
    });
    receiver
}
