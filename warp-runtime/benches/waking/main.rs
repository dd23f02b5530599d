//! How soon a worker in one process starts what another process has made possible: from the release of a mutex, and from the instant of a
//! rate limit's token, to the first line of the handler. On PostgreSQL with notices and without, and in a SQLite file.
//!
//! ```text
//! cargo bench -p warp-runtime --features postgres --bench waking
//! cargo bench -p warp-runtime --features postgres --bench waking -- --samples 200 --rounds 5 --only notices
//! ```
//!
//! PostgreSQL is the server that `WARP_TEST_POSTGRES_URL` names, or `postgres://postgres@127.0.0.1:5432/postgres`. Every round has two fresh
//! processes of this program, a schema or file of its own, and takes its samples one at a time; the rounds of the stores take turns, so that
//! whatever else runs on the machine meets all of them. The processes serve different kinds of jobs: what one makes possible only the other
//! can start. Both read the clock of this machine.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is what a benchmark is for"
)]

mod jobs;
mod measuring;
mod place;
mod process;
mod samples;
#[path = "../cost/spread.rs"]
mod spread;

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;
use comfy_table::{Table, presets};

use crate::measuring::{mutex, rate};
use crate::place::Way;
use crate::samples::Samples;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// How soon another process starts a job.
#[derive(Debug, Parser)]
struct Arguments {
    /// Samples in each round.
    #[arg(long, default_value_t = 100)]
    samples: u32,
    /// Rounds of each store.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// One store instead of all.
    #[arg(long)]
    only: Option<Way>,
    /// What a process of a round is told.
    #[arg(long, hide = true)]
    serve: Option<String>,
    /// What `cargo bench` says to every benchmark.
    #[arg(long, hide = true)]
    bench: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.serve {
        Some(told) => process::serve(told).await,
        None => measure(&arguments).await,
    };
    if let Err(error) = done {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

async fn measure(arguments: &Arguments) -> Outcome {
    let asked = |way: &Way| arguments.only.is_none_or(|only| only == *way);
    let ways: Vec<Way> = Way::ALL.into_iter().filter(asked).collect();
    let mut released: Vec<Samples> = ways.iter().map(|_| Samples::default()).collect();
    let mut rated: Vec<Samples> = ways.iter().map(|_| Samples::default()).collect();
    for _ in 0..arguments.rounds {
        for (way, (released, rated)) in ways.iter().zip(released.iter_mut().zip(&mut rated)) {
            released.add_round(mutex(*way, arguments.samples).await?);
            rated.add_round(rate(*way, arguments.samples).await?);
        }
    }
    println!(
        "{} rounds of {} samples",
        arguments.rounds, arguments.samples
    );
    show("a mutex is released → the handler begins", &ways, &released);
    show("a token's instant → the handler begins", &ways, &rated);
    Ok(())
}

fn show(what: &str, ways: &[Way], measured: &[Samples]) {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header([
        what,
        "samples",
        "p50",
        "p99",
        "longest",
        "p50 of a round",
        "p99 of a round",
        "times the first",
    ]);
    let first = measured.first().map_or(0.0, |first| first.quantile(50));
    for (way, samples) in ways.iter().zip(measured) {
        table.add_row(samples.row(way.to_string(), first));
    }
    println!("\nms; of a round: median (from – to)\n{table}");
}
