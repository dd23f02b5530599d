//! The jobs with their policies, and the desk that handles them all.

use std::error::Error;
use std::time::Duration;

use warp_runtime::JobId;
use warp_runtime::prelude::*;

use crate::record::Record;

/// What the file of an earlier run is asked for; other jobs in it are left alone.
pub(crate) const KINDS: &[&str] = &[
    RefreshCache::NAME,
    ResizeImage::NAME,
    SendEmail::NAME,
    CallPartner::NAME,
    ReadMeter::NAME,
    ExportReport::NAME,
    ChargeCustomer::NAME,
    SyncContact::NAME,
];

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

/// Enqueues all jobs in one transaction: a run that is cut off here leaves none of them.
pub(crate) async fn enqueue_everything(storage: &Sqlite) -> Result<Vec<JobId>, Box<dyn Error>> {
    let publisher = Publisher::new(storage.clone());
    let mut transaction = storage.begin().await?;
    let tx = &mut transaction;
    let now = JobParameters::new;
    let in_seconds = |seconds| now().with_delay(Duration::from_secs(seconds));
    let two_at_once = now().with_semaphore("crm", 2).with_priority(1);

    let mut ids = Vec::new();
    for seconds in [0, 3, 6, 9] {
        let jobs = [RefreshCache; 5];
        ids.extend(
            publisher
                .enqueue_all_in_with(tx, jobs, in_seconds(seconds))
                .await?,
        );
    }
    let images = (0..120).map(|number| ResizeImage { number });
    ids.extend(publisher.enqueue_all_in_with(tx, images, now()).await?);
    let emails = (0..100).map(|n| SendEmail {
        to: format!("customer-{n}"),
    });
    ids.extend(publisher.enqueue_all_in_with(tx, emails, now()).await?);
    ids.extend(
        publisher
            .enqueue_all_in_with(tx, [CallPartner; 80], now())
            .await?,
    );
    ids.extend(
        publisher
            .enqueue_all_in_with(tx, [ReadMeter; 100], now())
            .await?,
    );
    let reports = (0..40).map(|n| ExportReport { pages: 4 + n % 5 });
    ids.extend(publisher.enqueue_all_in_with(tx, reports, now()).await?);
    let charges = (0..60).map(|n| ChargeCustomer { customer: n % 4 });
    ids.extend(publisher.enqueue_all_in_with(tx, charges, now()).await?);
    ids.extend(
        publisher
            .enqueue_all_in_with(tx, [SyncContact; 30], two_at_once)
            .await?,
    );
    transaction.commit().await?;
    Ok(ids)
}
