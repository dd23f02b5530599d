//! R80, R82, R84: worker processes on one SQLite file, one of which is killed, judged by what the handlers write into a notebook.
//!
//! `WARP_TEST_JOBS` sets how many jobs there are; 400 without, 2,000 in the long form.

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::timeout;
use warp_runtime::prelude::*;
use warp_runtime::storage::Store;
use warp_runtime::storage::model::{Counter, Event, JobFilter, JobState};
use warp_runtime::{JobId, WorkerId};
use warp_tests::processes::{
    Call, CloseBooks, Free, Judge, Mail, Meter, Notebook, PRINTERS, Print, STARTS_A_SECOND, Shift,
    Transfer, WorkerProcess,
};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const PROGRAM: &str = env!("CARGO_BIN_EXE_worker-process");

/// How long a test may take when everything goes wrong.
const WATCHDOG: Duration = Duration::from_mins(5);

/// Long enough that a busy machine is not taken for a dead process.
const LEASE: Duration = Duration::from_secs(6);

const ACCOUNTS: u32 = 8;

/// A file with jobs, a notebook, and a publisher.
struct Office {
    folder: TempDir,
    storage: Sqlite,
    publisher: Publisher,
    notebook: Notebook,
}

impl Office {
    async fn open() -> Outcome<Self> {
        let folder = tempfile::tempdir()?;
        let storage = Sqlite::open(folder.path().join("jobs.db")).await?;
        Ok(Self {
            publisher: Publisher::new(storage.clone()),
            notebook: Notebook::open(&folder.path().join("notebook")),
            storage,
            folder,
        })
    }

    fn start(&self, process: &str, queue: &str, lease: Duration) -> WorkerProcess {
        let shift = Shift {
            process: process.to_owned(),
            file: self.path("jobs.db"),
            notebook: self.path("notebook"),
            queue: queue.to_owned(),
            concurrency: 16,
            lease,
        };
        WorkerProcess::start(PROGRAM, &shift)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Waits until it is so, looking whenever something was written to the file.
    async fn until(&self, is_so: impl AsyncFn() -> Outcome<bool>) -> Outcome {
        let mut changes = self.storage.changes();
        let watch = async {
            while !is_so().await? {
                changes.changed().await;
            }
            Ok(())
        };
        timeout(WATCHDOG, watch).await?
    }

    async fn succeeded(&self) -> Outcome<u64> {
        Ok(self.storage.counters().await?.get(Counter::Succeeded))
    }
}

/// Enqueues about so many jobs, of every kind. Returns the one that nobody ends who is not killed, and all.
async fn enqueue(office: &Office, count: u32) -> Outcome<(JobId, Vec<JobId>)> {
    let publisher = &office.publisher;
    let rated = count * 3 / 20;
    let transfers = (0..count / 5).map(|n| Transfer {
        account: n % ACCOUNTS,
    });
    let first = JobParameters::new().with_priority(1);
    let books = publisher.enqueue_with(CloseBooks, first).await?;
    let mut ids = vec![books];
    ids.extend(publisher.enqueue_all(transfers).await?);
    ids.extend(publisher.enqueue_all((0..count / 5).map(|_| Print)).await?);
    ids.extend(publisher.enqueue_all((0..rated).map(|_| Mail)).await?);
    ids.extend(publisher.enqueue_all((0..rated).map(|_| Call)).await?);
    ids.extend(publisher.enqueue_all((0..rated).map(|_| Meter)).await?);
    let rest = count.saturating_sub(u32::try_from(ids.len())?);
    ids.extend(publisher.enqueue_all((0..rest).map(|_| Free)).await?);
    Ok((books, ids))
}

/// Four processes, one of which is killed in the middle and replaced: no limit is exceeded, no job is lost, none is recorded twice, and nobody
/// but the killed one is taken for dead.
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_process_exceeds_no_limit_and_loses_no_job() -> Outcome {
    let count: u32 = std::env::var("WARP_TEST_JOBS")
        .unwrap_or_else(|_| "400".to_owned())
        .parse()?;
    let office = Office::open().await?;
    let (books, ids) = enqueue(&office, count).await?;
    let all = ids.len() as u64;
    let mut processes: Vec<WorkerProcess> = ["north", "east", "south", "west"]
        .map(|name| office.start(name, "default", LEASE))
        .into();

    let in_the_middle = async || {
        let is_half = office.succeeded().await? * 2 >= all;
        Ok(is_half && !office.notebook.begun(books).is_empty())
    };
    office.until(in_the_middle).await?;
    let (victim, _) = job(&office, books).await?.claim.ok_or("nobody runs it")?;
    let process = office.notebook.begun(books).remove(0);
    let index = processes.iter().position(|other| other.name == process);
    let killed = processes.swap_remove(index.ok_or("an unknown process runs it")?);
    killed.kill(&office.notebook).await;
    processes.push(office.start("replacement", "default", LEASE));
    office
        .until(async || Ok(office.succeeded().await? >= all))
        .await?;
    let mut longest_lock_wait = Duration::ZERO;
    for process in processes {
        let name = process.name.clone();
        let costs = process.stop().await;
        println!("{name}: {costs:?}");
        longest_lock_wait = longest_lock_wait.max(costs.longest_lock_wait);
    }
    println!("{count} jobs, the longest wait for the write lock: {longest_lock_wait:?}");

    let judge = Judge::new(&office.notebook.read());
    no_limit_was_exceeded(&judge);
    every_job_was_recorded_once(&office, &ids, &judge, victim).await?;
    assert_eq!(judge.runs.get(&books), Some(&2));
    no_slot_is_left(&office).await
}

fn no_limit_was_exceeded(judge: &Judge) {
    let second = Duration::from_secs(1);
    for account in 0..ACCOUNTS {
        let key = format!("account:{account}");
        assert_eq!(judge.most_at_once(&key), 1, "{key}");
        let tokens = &judge.tokens[&key];
        assert!(tokens.is_sorted(), "{key}: {tokens:?}");
    }
    assert!(judge.most_at_once("printers") <= PRINTERS as usize);
    assert!(judge.busiest_fixed_window("mail", second) <= STARTS_A_SECOND as usize);
    assert!(judge.busiest_interval("call", second) <= STARTS_A_SECOND as usize);
    assert_eq!(judge.overdrawn("meter", STARTS_A_SECOND, second), 0);
}

async fn every_job_was_recorded_once(
    office: &Office,
    ids: &[JobId],
    judge: &Judge,
    victim: WorkerId,
) -> Outcome {
    let everything = JobFilter {
        limit: usize::MAX,
        ..JobFilter::default()
    };
    let jobs = office.storage.jobs(everything).await?;
    assert!(jobs.iter().map(|job| job.id).eq(ids.iter().copied()));
    for job in jobs {
        let id = job.id;
        assert_eq!(job.state, JobState::Succeeded, "{job:?}");
        let log = office.storage.log(id).await?;
        let recorded = log.iter().filter(|line| line.event == Event::Succeeded);
        assert_eq!(recorded.count(), 1, "{log:#?}");
        let lost = log.iter().filter_map(|line| match line.event {
            Event::Lost { worker, .. } => Some(worker),
            _ => None,
        });
        let lost: Vec<WorkerId> = lost.collect();
        assert!(
            lost.iter().all(|&worker| worker == victim),
            "{id}: {lost:?}"
        );
        let runs = judge.runs.get(&id).copied().unwrap_or(0);
        assert!(
            (1..=1 + lost.len()).contains(&runs),
            "{id} ran {runs} times"
        );
    }
    Ok(())
}

async fn no_slot_is_left(office: &Office) -> Outcome {
    let mut transaction = office.storage.begin().await?;
    let slots: i64 = sqlx::query_scalar("SELECT count(*) FROM warp_slots")
        .fetch_one(&mut *transaction)
        .await?;
    assert_eq!(slots, 0);
    transaction.rollback().await?;
    Ok(())
}

async fn job(office: &Office, id: JobId) -> Outcome<warp_runtime::storage::model::Job> {
    let job = office.storage.job(id).await?;
    job.ok_or_else(|| "the job is gone".into())
}

/// R44: what is enqueued here starts in an idle process there, and what is freed there starts a job that waits for it elsewhere.
#[tokio::test(flavor = "multi_thread")]
async fn an_idle_process_learns_what_another_one_did() -> Outcome {
    let office = Office::open().await?;
    // So long that nobody looks by himself before the watchdog does.
    let lease = Duration::from_hours(1);
    let processes = ["here", "there"].map(|name| office.start(name, name, lease));
    let in_queue = |queue: &str| JobParameters::new().with_queue(queue);
    let mut done = 0;
    for round in 0..20 {
        for queue in ["here", "there"] {
            let transfer = Transfer { account: 0 };
            office
                .publisher
                .enqueue_with(transfer, in_queue(queue))
                .await?;
            done += 1;
        }
        let all_are_done = async || Ok(office.succeeded().await? >= done);
        office
            .until(all_are_done)
            .await
            .map_err(|error| format!("round {round}: {error}"))?;
    }
    for process in processes {
        process.stop().await;
    }
    let judge = Judge::new(&office.notebook.read());
    assert_eq!(judge.most_at_once("account:0"), 1);
    Ok(())
}
