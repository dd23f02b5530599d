//! What a job costs: statements, transactions and rows written, for five kinds of work, on SQLite and on PostgreSQL.
//!
//! ```text
//! cargo bench -p warp-runtime --features postgres --bench cost
//! cargo bench -p warp-runtime --features postgres --bench cost -- --jobs 2000 --runs 3 --only postgres
//! ```
//!
//! PostgreSQL is the server that `WARP_TEST_POSTGRES_URL` names, or `postgres://postgres@127.0.0.1:5432/postgres`; every run has a schema of
//! its own there, or a file of its own, and removes it. One worker runs 32 handlers at once that do nothing. Counted is everything from its
//! start until it has stopped: registering, turns, notices, heartbeats. The counters are the store's own (`statistics()`), where a
//! `BEGIN` with its settings is one statement and a `COMMIT` another; rows are counted by the database. Jobs per second are shown beside
//! them; nothing is judged by time.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is what a benchmark is for"
)]
#![expect(
    clippy::cast_precision_loss,
    reason = "counts of a benchmark are small"
)]

mod place;
mod spread;
mod work;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use comfy_table::{Table, presets};
use warp_runtime::storage::clock::{Clock, SystemClock};

use crate::place::{Cost, Place};
use crate::spread::Spread;
use crate::work::{Work, finish, idle};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// What a job costs.
#[derive(Debug, Parser)]
struct Arguments {
    /// Jobs in each run.
    #[arg(long, default_value_t = 10_000)]
    jobs: usize,
    /// Runs of each kind of work; the table shows medians, and from what to what they went.
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// How long an idle worker is watched, in seconds.
    #[arg(long, default_value_t = 60)]
    idle: u64,
    /// One store instead of both.
    #[arg(long)]
    only: Option<Kind>,
    /// What `cargo bench` says to every benchmark.
    #[arg(long, hide = true)]
    bench: bool,
}

/// A kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Sqlite,
    Postgres,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let kinds = [Kind::Sqlite, Kind::Postgres];
    let asked = kinds
        .into_iter()
        .filter(|kind| arguments.only.is_none_or(|only| only == *kind));
    for kind in asked {
        if let Err(error) = measure(kind, &arguments).await {
            eprintln!("{kind:?}: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

async fn measure(kind: Kind, arguments: &Arguments) -> Outcome {
    println!(
        "{kind:?}: {} jobs, {} runs, 32 at once; median (from – to)",
        arguments.jobs, arguments.runs
    );
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header([
        "work",
        "statements/job",
        "transactions/job",
        "rows written/job",
        "statements/turn",
        "jobs/s",
    ]);
    for work in Work::ALL {
        let mut runs = Runs::default();
        for _ in 0..arguments.runs {
            runs.add(&run(kind, work, arguments.jobs).await?);
        }
        table.add_row(runs.row(work));
    }
    println!("{table}");
    let idle_time = Duration::from_secs(arguments.idle);
    let place = Place::new(kind).await?;
    let statements = idle(&place, idle_time).await?;
    place.remove().await?;
    println!(
        "idle: {:.2} statements a second, heartbeats and sweeps included, over {idle_time:?}\n",
        statements as f64 / idle_time.as_secs_f64()
    );
    Ok(())
}

/// What one run has cost.
struct Run {
    jobs: usize,
    took: Duration,
    cost: Cost,
}

async fn run(kind: Kind, work: Work, jobs: usize) -> Outcome<Run> {
    let place = Place::new(kind).await?;
    let storage = place.open().await?;
    work.enqueue(storage.storage(), jobs).await?;
    storage.close().await?;
    let rows = place.rows_written().await?;
    let storage = place.open().await?;
    let began = SystemClock.now();
    let before = storage.cost();
    finish(storage.storage(), jobs).await?;
    let took = SystemClock.now().since(began);
    let mut cost = storage.cost() - before;
    storage.close().await?;
    cost.rows = place.rows_written().await? - rows;
    place.remove().await?;
    Ok(Run { jobs, took, cost })
}

/// What several runs have cost.
#[derive(Default)]
struct Runs {
    statements: Spread,
    transactions: Spread,
    rows: Spread,
    per_turn: Spread,
    speed: Spread,
}

impl Runs {
    fn add(&mut self, Run { jobs, took, cost }: &Run) {
        let jobs = *jobs as f64;
        self.statements.add(cost.statements as f64 / jobs);
        self.transactions.add(cost.transactions as f64 / jobs);
        self.rows.add(cost.rows as f64 / jobs);
        self.per_turn
            .add(cost.statements as f64 / cost.turns.max(1) as f64);
        self.speed.add(jobs / took.as_secs_f64());
    }

    fn row(&self, work: Work) -> [String; 6] {
        [
            work.to_string(),
            self.statements.show(2),
            self.transactions.show(2),
            self.rows.show(1),
            self.per_turn.show(1),
            self.speed.show(0),
        ]
    }
}
