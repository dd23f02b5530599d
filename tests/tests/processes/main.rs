//! R80–R86: worker processes on one SQLite file, or on a PostgreSQL server, killed and frozen, judged by what the handlers write into a
//! notebook.
//!
//! `WARP_TEST_JOBS` sets how many jobs there are in a test, `WARP_TEST_KILLS` how often one kills that does so again and again,
//! `WARP_TEST_ROUNDS` how often one tries to meet a certain moment, and `WARP_TEST_SEED` what is left to chance there.

use std::time::Duration;

use warp_tests::processes::{Office, Outcome, WorkerProcess};

/// How long a test waits for what should come at once.
const WATCHDOG: Duration = Duration::from_secs(60);

const PROGRAM: &str = env!("CARGO_BIN_EXE_worker-process");

/// Long enough that a busy machine is not taken for a dead process.
const LEASE: Duration = Duration::from_secs(6);

/// Tests on a SQLite file.
macro_rules! in_one_file {
    ($($test:ident),+ $(,)?) => {
        mod in_one_file {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $test() -> warp_tests::processes::Outcome {
                let office = warp_tests::processes::Office::in_a_file(crate::PROGRAM).await?;
                super::$test(&office).await?;
                office.close().await
            })+
        }
    };
}

/// Tests on a PostgreSQL server, if there is one.
macro_rules! on_one_server {
    ($($test:ident),+ $(,)?) => {
        mod on_one_server {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $test() -> warp_tests::processes::Outcome {
                let test = stringify!($test);
                let office = warp_tests::processes::Office::on_a_server(crate::PROGRAM, test);
                let Some(office) = office.await? else {
                    return Ok(());
                };
                super::$test(&office).await?;
                office.close().await
            })+
        }
    };
}

/// Tests of both.
macro_rules! in_each_place {
    ($($test:ident),+ $(,)?) => {
        in_one_file! { $($test),+ }
        on_one_server! { $($test),+ }
    };
}

mod clocks;
mod cuts;
mod deploys;
mod freezes;
mod frozen_in_a_turn;
mod kills;
mod limits;
mod restarts;
mod trades;
mod wake_ups;

/// A number from the environment.
fn setting(name: &str, by_default: u32) -> Outcome<u32> {
    Ok(std::env::var(name).map_or(Ok(by_default), |text| text.parse())?)
}

fn start_four(office: &Office) -> Vec<WorkerProcess> {
    let names = ["north", "east", "south", "west"];
    let start = |name: &&str| office.start(name, "default", LEASE);
    names.iter().map(start).collect()
}

/// Shuts processes down, and prints what the store cost them.
#[expect(clippy::print_stdout, reason = "shown with `--nocapture`")]
async fn stop(processes: Vec<WorkerProcess>) {
    let mut longest_lock_wait = Duration::ZERO;
    for process in processes {
        let name = process.name.clone();
        let costs = process.stop().await;
        println!("{name}: {costs:?}");
        longest_lock_wait = longest_lock_wait.max(costs.longest_lock_wait);
    }
    println!("the longest wait for the write lock: {longest_lock_wait:?}");
}
