//! R5, R7, R33: what the registry of a program tells.
use warp_runtime::prelude::*;
use warp_runtime::{assert_policies, registry};

const LINE: u32 = line!() + 3;
#[derive(Serialize, Deserialize, Job)]
#[job(name = "send-email", alias = "SendEmail")]
struct SendEmail;

#[derive(Serialize, Deserialize, Job)]
#[mutex("report")]
struct Report;

struct Runner;

#[semaphore("smtp", limit = 3)]
impl JobHandler<SendEmail> for Runner {
    async fn handle(&self, _job: SendEmail, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

impl JobHandler<Report> for Runner {
    async fn handle(&self, _job: Report, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

fn main() {
    let jobs = registry().jobs();
    let names: Vec<Vec<&str>> = jobs
        .iter()
        .map(|job| job.contract.names().collect())
        .collect();
    assert_eq!(names, [vec!["send-email", "SendEmail"], vec!["Report"]]);
    assert_eq!(jobs[0].site.line, LINE);
    assert!(jobs[0].site.file.ends_with("registry.rs"));

    assert!(
        registry()
            .expect(["send-email", "SendEmail", "Report"])
            .is_ok()
    );
    assert!(registry().expect(["Fax"]).is_err());

    assert_policies!();
    assert_policies!(SendEmail => Runner, Report => Runner);
    let report = registry().verify(&[]);
    assert!(report.is_clean() && report.unhandled.is_empty(), "{report}");

    let table = registry().to_markdown();
    assert!(
        table.contains("| `Runner` for `SendEmail` | `semaphore` | `smtp` | 3 slots | wait |"),
        "{table}"
    );
    assert!(registry().to_json().contains("\"name\": \"send-email\""));
}
