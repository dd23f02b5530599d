//! The jobs with their policies, and the desk that handles them all.

use std::time::Duration;

use warp_runtime::EnqueueError;
use warp_runtime::prelude::*;

use crate::record::Record;

/// Refreshing twice at once is a waste: what finds the key taken is skipped.
#[mutex("cache")]
#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
pub(crate) struct RefreshCache;

/// Four fit on the device; the rest waits.
#[semaphore("gpu", limit = 4)]
#[derive(Debug, Serialize, Deserialize, Job)]
pub(crate) struct ResizeImage {
    number: u64,
}

/// The mail provider counts by the clock.
#[rate_limit("mail", count = 15, per_seconds = 2, mode = "wait", style = "fixed")]
#[derive(Debug, Serialize, Deserialize, Job)]
pub(crate) struct SendEmail {
    to: String,
}

/// The partner looks at the last two seconds, whenever they are.
#[rate_limit("partner", count = 10, per = "2s", mode = "wait", style = "sliding")]
#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
pub(crate) struct CallPartner;

/// The meter likes an even pace.
#[rate_limit("meter", count = 12, per = "2s", mode = "wait", style = "token_bucket")]
#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
pub(crate) struct ReadMeter;

/// The contract would skip; its handler knows better.
#[mutex("export")]
#[derive(Debug, Serialize, Deserialize, Job)]
pub(crate) struct ExportReport {
    pages: u32,
}

/// One charge at a time for each customer, and none is lost.
#[mutex("customer:{customer}", mode = "wait")]
#[derive(Debug, Serialize, Deserialize, Job)]
pub(crate) struct ChargeCustomer {
    customer: u32,
}

/// Has no policy of its own; its publisher gives one.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
pub(crate) struct SyncContact;

/// Handles everything, and writes down what ran when.
pub(crate) struct Desk {
    storage: Storage,
    record: Record,
}

impl Desk {
    pub(crate) fn new(storage: Storage, record: Record) -> Self {
        Self { storage, record }
    }

    async fn work(&self, key: &str, millis: u64, ctx: &JobContext) {
        let _run = self.record.begin(key, ctx.admitted_at());
        self.storage
            .clock()
            .sleep(Duration::from_millis(millis))
            .await;
    }
}

impl JobHandler<RefreshCache> for Desk {
    async fn handle(&self, _: RefreshCache, ctx: &JobContext) -> JobResult {
        self.work("cache", 150, ctx).await;
        Ok(())
    }
}

impl JobHandler<ResizeImage> for Desk {
    async fn handle(&self, job: ResizeImage, ctx: &JobContext) -> JobResult {
        self.work("gpu", 200 + job.number % 7 * 50, ctx).await;
        Ok(())
    }
}

impl JobHandler<SendEmail> for Desk {
    async fn handle(&self, job: SendEmail, ctx: &JobContext) -> JobResult {
        self.work("mail", 40, ctx).await;
        // One address in ten is busy at first. The second attempt is a new start, and spends a token.
        if job.to.ends_with('7') && !ctx.is_last_attempt() {
            return Err(JobError::new("mailbox busy"));
        }
        Ok(())
    }
}

impl JobHandler<CallPartner> for Desk {
    async fn handle(&self, _: CallPartner, ctx: &JobContext) -> JobResult {
        self.work("partner", 60, ctx).await;
        Ok(())
    }
}

impl JobHandler<ReadMeter> for Desk {
    async fn handle(&self, _: ReadMeter, ctx: &JobContext) -> JobResult {
        self.work("meter", 20, ctx).await;
        Ok(())
    }
}

#[semaphore("export-queue", limit = 3)]
impl JobHandler<ExportReport> for Desk {
    async fn handle(&self, job: ExportReport, ctx: &JobContext) -> JobResult {
        self.work("export-queue", u64::from(job.pages) * 50, ctx)
            .await;
        Ok(())
    }
}

impl JobHandler<ChargeCustomer> for Desk {
    async fn handle(&self, job: ChargeCustomer, ctx: &JobContext) -> JobResult {
        self.work(&format!("customer:{}", job.customer), 250, ctx)
            .await;
        Ok(())
    }
}

impl JobHandler<SyncContact> for Desk {
    async fn handle(&self, _: SyncContact, ctx: &JobContext) -> JobResult {
        self.work("crm", 300, ctx).await;
        Ok(())
    }
}

/// Enqueues all jobs, and says how many.
pub(crate) async fn enqueue_everything(publisher: &Publisher) -> Result<usize, EnqueueError> {
    let mut ids = Vec::new();
    for seconds in [0, 3, 6, 9] {
        let later = JobParameters::new().with_delay(Duration::from_secs(seconds));
        ids.extend(publisher.enqueue_all_with([RefreshCache; 5], later).await?);
    }
    ids.extend(
        publisher
            .enqueue_all((0..120).map(|number| ResizeImage { number }))
            .await?,
    );
    ids.extend(
        publisher
            .enqueue_all((0..100).map(|n| SendEmail {
                to: format!("customer-{n}"),
            }))
            .await?,
    );
    ids.extend(publisher.enqueue_all([CallPartner; 80]).await?);
    ids.extend(publisher.enqueue_all([ReadMeter; 100]).await?);
    ids.extend(
        publisher
            .enqueue_all((0..40).map(|n| ExportReport { pages: 4 + n % 5 }))
            .await?,
    );
    ids.extend(
        publisher
            .enqueue_all((0..60).map(|n| ChargeCustomer { customer: n % 4 }))
            .await?,
    );
    let parameters = JobParameters::new()
        .with_semaphore("crm", 2)
        .with_priority(1);
    ids.extend(
        publisher
            .enqueue_all_with([SyncContact; 30], parameters)
            .await?,
    );
    Ok(ids.len())
}
