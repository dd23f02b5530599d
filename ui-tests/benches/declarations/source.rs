//! The source text of the crates.

use std::fmt::Write;

const HEAD: &str = "#![allow(dead_code, unused_imports)]\nuse warp_runtime::prelude::*;\n";

/// A crate of so many jobs, each with a handler of its own; with a policy on each of the two, or without.
pub(crate) fn crate_of(jobs: usize, has_policies: bool) -> String {
    let mut source = HEAD.to_owned();
    for index in 0..jobs {
        let (on_job, on_handler) = match index % 3 {
            _ if !has_policies => (String::new(), String::new()),
            0 => (
                format!("#[mutex(\"job-{index}:{{customer.id}}\", mode = \"wait\")]"),
                format!("#[rate_limit(\"handler-{index}\", count = 10, per = \"1m\")]"),
            ),
            1 => (
                format!("#[semaphore(\"job-{index}\", limit = SLOTS)]"),
                format!("#[mutex(\"handler-{index}:{{id}}\")]"),
            ),
            _ => (
                format!("#[rate_limit(\"job-{index}:{{id}}\", count = SLOTS, per_seconds = 60)]"),
                format!("#[semaphore(\"handler-{index}\", limit = 3)]"),
            ),
        };
        // Writing into a string cannot fail.
        _ = write!(
            source,
            "
{on_job}
#[derive(Serialize, Deserialize, Job)]
pub struct Job{index} {{ pub id: u64, pub name: String, pub customer: Customer }}

pub struct Handler{index};

{on_handler}
impl JobHandler<Job{index}> for Handler{index} {{
    async fn handle(&self, job: Job{index}, _ctx: &JobContext) -> JobResult {{
        drop(job.name);
        Ok(())
    }}
}}
"
        );
    }
    source.push_str(
        "
pub const SLOTS: u32 = 4;

#[derive(Serialize, Deserialize)]
pub struct Customer { pub id: u64 }

fn main() {}
",
    );
    source
}

/// A program of so many jobs with so many rate limits each, that prints how many nanoseconds its first `registry()` took.
pub(crate) fn program_of(jobs: usize, policies: usize) -> String {
    let mut source = HEAD.to_owned();
    for index in 0..jobs {
        for policy in 0..policies {
            _ = writeln!(
                source,
                "#[rate_limit(\"job-{index}-{policy}\", count = 10, per_seconds = 60)]"
            );
        }
        _ = writeln!(
            source,
            "#[derive(Serialize, Deserialize, Job)]\nstruct Job{index};"
        );
    }
    let declarations = jobs * policies;
    _ = writeln!(
        source,
        "
fn main() {{
    let begin = std::time::Instant::now();
    let registry = warp_runtime::registry();
    let took = begin.elapsed();
    assert_eq!(registry.registrations().len(), {declarations});
    println!(\"{{}}\", took.as_nanos());
}}"
    );
    source
}
