//! R2, R4, R5, R51: one declaration per item, in its type and in the registry, with its file and line.
use warp_runtime::__private::Mode;
use warp_runtime::prelude::*;
use warp_ui_tests::{concurrency, keys, on_contract, on_handler};

const LINE: u32 = line!() + 1;
#[mutex("payment")]
#[derive(Serialize, Deserialize, Job)]
struct Payment {
    cents: u64,
}

#[derive(Serialize, Deserialize, Job)]
#[mutex("report", mode = "wait")]
enum Report {
    Daily,
    Of { year: u16 },
}

#[derive(Serialize, Deserialize, Job)]
struct Free;

struct Payments;

/// For its family this one replaces the contract's.
#[mutex("payments")]
impl JobHandler<Payment> for Payments {
    async fn handle(&self, job: Payment, _ctx: &JobContext) -> JobResult {
        let _ = job.cents;
        Ok(())
    }
}

#[mutex("reports", mode = "skip")]
impl JobHandler<Report> for Payments {
    async fn handle(&self, _job: Report, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

impl JobHandler<Free> for Payments {
    async fn handle(&self, _job: Free, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

/// A type that is its own handler: both rungs stand on it.
#[mutex("contract")]
#[derive(Serialize, Deserialize, Job)]
struct Own;

#[mutex("handler")]
impl JobHandler<Self> for Own {
    async fn handle(&self, _job: Self, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

fn main() {
    let payment = on_contract::<Payment>();
    assert_eq!(keys(&payment), ["payment"]);
    assert_eq!(concurrency(&payment).limit(), 1);
    assert_eq!(concurrency(&payment).mode(), Mode::Skip);
    assert_eq!(concurrency(&payment).site().line, LINE);
    assert!(
        concurrency(&payment)
            .site()
            .file
            .ends_with("contracts_and_handlers.rs")
    );

    assert_eq!(keys(&on_contract::<Report>()), ["report"]);
    assert_eq!(concurrency(&on_contract::<Report>()).mode(), Mode::Wait);
    let _ = [Report::Daily, Report::Of { year: 2026 }];

    assert_eq!(keys(&on_contract::<Free>()), [""; 0]);
    assert_eq!(
        keys(&on_handler::<Free, Payments>("Payments", "Free")),
        [""; 0]
    );

    assert_eq!(
        keys(&on_handler::<Payment, Payments>("Payments", "Payment")),
        ["payments"]
    );
    assert_eq!(
        keys(&on_handler::<Report, Payments>("Payments", "Report")),
        ["reports"]
    );

    assert_eq!(keys(&on_contract::<Own>()), ["contract"]);
    assert_eq!(keys(&on_handler::<Own, Own>("Own", "Own")), ["handler"]);

    // A job may be local to a function.
    #[mutex("local")]
    #[derive(Serialize, Deserialize, Job)]
    struct Local;
    assert_eq!(keys(&on_contract::<Local>()), ["local"]);
}
