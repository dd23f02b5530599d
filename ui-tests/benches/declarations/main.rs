//! What declarations cost: the build time of a crate with 200 jobs and 200 handlers, over the same crate without its policies; the start-up time
//! of a program with 10,000 declarations, over one with none; and the clean build of `warp-macros` beside that of `serde_derive`.
//!
//! ```text
//! cargo bench -p warp-ui-tests --bench declarations
//! WARP_BENCH_RUNS=9 cargo bench -p warp-ui-tests --bench declarations -- build start clean
//! ```
//!
//! The crates are written into the target directory and built by cargo, without a network and not incrementally. Runs with and without
//! policies take turns, so that a busy machine slows both; shown are medians, and from what to what they went. Ratios are those of the least
//! times, which such a machine disturbs least.
#![expect(clippy::print_stdout, reason = "this is what a benchmark is for")]

mod project;
mod source;

use std::error::Error;
use std::time::Duration;

use crate::project::Project;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Jobs, and handlers, of the crate that is built.
const JOBS: usize = 200;
/// Jobs of the program that is started, with so many policies each.
const STARTED: (usize, usize) = (1_250, 8);

fn main() -> Outcome {
    // `cargo test --benches` only asks whether it builds.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let runs = std::env::var("WARP_BENCH_RUNS").map_or(Ok(5), |runs| runs.parse())?;
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    let is_chosen = |part: &str| {
        let names = ["build", "start", "clean"];
        let chooses = chosen
            .iter()
            .any(|argument| names.contains(&argument.as_str()));
        !chooses || chosen.iter().any(|argument| argument == part)
    };
    if is_chosen("build") {
        build(runs)?;
    }
    if is_chosen("start") {
        start(runs)?;
    }
    if is_chosen("clean") {
        clean_build(runs)?;
    }
    Ok(())
}

/// Aim: at most 1.3 times.
fn build(runs: usize) -> Outcome {
    let with = Project::create("with-policies", &source::crate_of(JOBS, true))?;
    let without = Project::create("without-policies", &source::crate_of(JOBS, false))?;
    for command in ["check", "build"] {
        let [mut with_policies, mut without_policies] = [Vec::new(), Vec::new()];
        // The first run builds the dependencies.
        with.cargo(command)?;
        without.cargo(command)?;
        for _ in 0..runs {
            with_policies.push(with.rebuild(command)?);
            without_policies.push(without.rebuild(command)?);
        }
        let ratio = least(&with_policies).as_secs_f64() / least(&without_policies).as_secs_f64();
        println!("cargo {command}, {JOBS} jobs and {JOBS} handlers");
        println!("  with policies     {}", shown(&with_policies));
        println!("  without policies  {}", shown(&without_policies));
        println!("  ratio             {ratio:.2}");
    }
    Ok(())
}

/// Aim: at most 5 ms.
fn start(runs: usize) -> Outcome {
    let (jobs, policies) = STARTED;
    let many = Project::create("many", &source::program_of(jobs, policies))?;
    let none = Project::create("none", &source::program_of(0, 0))?;
    let [many, none] = [many.program()?, none.program()?];
    let [mut registries, mut with, mut without] = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..runs.max(20) {
        let (whole, registry) = many.run()?;
        with.push(whole);
        registries.push(registry);
        without.push(none.run()?.0);
    }
    let difference = least(&with).saturating_sub(least(&without));
    println!(
        "start of a program with {} declarations (release)",
        jobs * policies
    );
    println!("  the first `registry()`   {}", shown(&registries));
    println!("  the whole process        {}", shown(&with));
    println!("  without declarations     {}", shown(&without));
    println!("  difference               {difference:.2?}");
    Ok(())
}

fn clean_build(runs: usize) -> Outcome {
    let project = Project::create("with-policies", &source::crate_of(JOBS, true))?;
    println!("clean build, its dependencies included (debug)");
    for package in ["warp-macros", "serde_derive"] {
        let times: Vec<Duration> = (0..runs.min(3))
            .map(|_| project.clean_build(package))
            .collect::<Outcome<_>>()?;
        println!("  {package:<16} {}", shown(&times));
    }
    Ok(())
}

fn median(times: &[Duration]) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn least(times: &[Duration]) -> Duration {
    times.iter().min().copied().unwrap_or_default()
}

fn shown(times: &[Duration]) -> String {
    let least = least(times);
    let most = times.iter().max().copied().unwrap_or_default();
    format!("{:.2?} ({least:.2?} to {most:.2?})", median(times))
}
