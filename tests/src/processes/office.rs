//! A store, a notebook, and the processes that work there.

use std::error::Error;
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::timeout;
use warp_runtime::prelude::*;
use warp_runtime::storage::clock::{Clock, SystemClock};
use warp_runtime::storage::model::{Counter, Job as StoredJob, JobState};
use warp_runtime::{JobId, Timestamp};

use super::jobs::{Call, Free, Mail, Meter, Print, Trade, Transfer};
use super::notebook::Notebook;
use super::place::Place;
use super::version::Version;
use super::worker_process::{Shift, WorkerProcess};

/// What a process test returns.
pub type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// How long a test may take when everything goes wrong.
const WATCHDOG: Duration = Duration::from_mins(5);

/// How often it is looked at what nobody announces.
const LOOKS_AGAIN: Duration = Duration::from_millis(100);

/// How many accounts there are [`Transfer`]s of.
pub(super) const ACCOUNTS: u32 = 8;

/// A store with jobs, a notebook, and a publisher.
#[derive(Debug)]
pub struct Office {
    /// Where the files are.
    pub folder: TempDir,
    /// Where the jobs are.
    pub place: Place,
    program: &'static str,
    /// The jobs.
    pub storage: Storage,
    /// Puts jobs there.
    pub publisher: Publisher,
    /// What the handlers see.
    pub notebook: Notebook,
}

impl Office {
    /// A new office around a file, whose workers are this program, the test crate's `worker-process`.
    pub async fn in_a_file(program: &'static str) -> Outcome<Self> {
        let folder = tempfile::tempdir()?;
        let place = Place::in_a_file(folder.path());
        Self::open(program, place, folder).await
    }

    /// A new office around a server, if there is one.
    pub async fn on_a_server(program: &'static str, test: &str) -> Outcome<Option<Self>> {
        let Some(place) = Place::on_a_server(test).await? else {
            return Ok(None);
        };
        Ok(Some(Self::at(program, place).await?))
    }

    /// A new office around a place.
    pub async fn at(program: &'static str, place: Place) -> Outcome<Self> {
        Self::open(program, place, tempfile::tempdir()?).await
    }

    /// Opens the store anew: connections that the server has ended are found out one by one, each by the call that uses it.
    pub async fn reopen(&mut self) -> Outcome {
        self.storage = self.place.open().await?.storage();
        self.publisher = Publisher::new(self.storage.clone());
        Ok(())
    }

    async fn open(program: &'static str, place: Place, folder: TempDir) -> Outcome<Self> {
        let storage = place.open().await?.storage();
        Ok(Self {
            publisher: Publisher::new(storage.clone()),
            notebook: Notebook::open(&folder.path().join("notebook")),
            program,
            place,
            storage,
            folder,
        })
    }

    /// What a process is told that serves a queue.
    pub fn shift(&self, process: &str, queue: &str, lease: Duration) -> Shift {
        Shift {
            process: process.to_owned(),
            place: self.place.clone(),
            notebook: self.folder.path().join("notebook"),
            queue: queue.to_owned(),
            trade: Trade::Everything,
            version: Version::Present,
            shim: None,
            concurrency: 16,
            lease,
        }
    }

    /// Starts it.
    pub fn begin(&self, shift: &Shift) -> WorkerProcess {
        WorkerProcess::start(self.program, shift)
    }

    /// What a process says that cannot begin its shift.
    pub async fn refusal(&self, shift: &Shift) -> Outcome<String> {
        WorkerProcess::refusal(self.program, shift).await
    }

    /// Starts a process that serves a queue.
    pub fn start(&self, process: &str, queue: &str, lease: Duration) -> WorkerProcess {
        self.begin(&self.shift(process, queue, lease))
    }

    /// Leaves nothing behind.
    pub async fn close(self) -> Outcome {
        self.place.clean_up().await
    }

    /// Waits until it is so, looking whenever something was written, and now and then.
    pub async fn until(&self, is_so: impl AsyncFn() -> Outcome<bool>) -> Outcome {
        let mut changes = self.storage.changes();
        let watch = async {
            while !is_so().await? {
                tokio::select! {
                    () = changes.changed() => {}
                    () = SystemClock.sleep(LOOKS_AGAIN) => {}
                }
            }
            Ok(())
        };
        timeout(WATCHDOG, watch).await?
    }

    /// Waits until all of these jobs are in a state.
    pub async fn until_all_are(&self, ids: &[JobId], state: JobState) -> Outcome {
        let are_there = async || {
            for &id in ids {
                if self.job(id).await?.state != state {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        self.until(are_there).await
    }

    /// Waits until all of these jobs have begun.
    pub async fn until_begun(&self, ids: &[JobId]) -> Outcome {
        let has_begun = |id: &JobId| !self.notebook.begun(*id).is_empty();
        self.until(async || Ok(ids.iter().all(has_begun))).await
    }

    /// Waits until these processes are there.
    pub async fn until_there(&self, processes: &[WorkerProcess]) -> Outcome {
        let are_there = async || {
            for process in processes {
                if self.seen(&process.name).await? == Timestamp::EPOCH {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        self.until(are_there).await
    }

    /// How many jobs have succeeded.
    pub async fn succeeded(&self) -> Outcome<u64> {
        Ok(self.storage.counters().await?.get(Counter::Succeeded))
    }

    /// How many jobs have ended.
    pub async fn ended(&self) -> Outcome<u64> {
        let counters = self.storage.counters().await?;
        Ok(counters.get(Counter::Succeeded) + counters.get(Counter::Failed))
    }

    /// What a statement on the tables answers, in which they have the names that they have in a file.
    pub async fn ask(&self, statement: &str) -> Outcome<i64> {
        self.place.ask(statement).await
    }

    /// When a process was seen last, by the store's clock; at the epoch if never.
    pub async fn seen(&self, process: &str) -> Outcome<Timestamp> {
        let last = format!(
            "SELECT coalesce(max(last_seen), 0) FROM warp_workers WHERE name = '{process}'"
        );
        Ok(Timestamp::from_micros(self.ask(&last).await?))
    }

    /// A job.
    pub async fn job(&self, id: JobId) -> Outcome<StoredJob> {
        let job = self.storage.job(id).await?;
        job.ok_or_else(|| "the job is gone".into())
    }

    /// Enqueues so many jobs, of every kind that takes a moment.
    pub async fn enqueue(&self, count: u32) -> Outcome<Vec<JobId>> {
        let publisher = &self.publisher;
        let rated = count * 3 / 20;
        let account = |n| n % ACCOUNTS;
        let transfers = (0..count / 5).map(|n| Transfer {
            account: account(n),
        });
        let mut ids = publisher.enqueue_all(transfers).await?;
        ids.extend(publisher.enqueue_all((0..count / 5).map(|_| Print)).await?);
        ids.extend(publisher.enqueue_all((0..rated).map(|_| Mail)).await?);
        ids.extend(publisher.enqueue_all((0..rated).map(|_| Call)).await?);
        ids.extend(publisher.enqueue_all((0..rated).map(|_| Meter)).await?);
        let rest = count.saturating_sub(u32::try_from(ids.len())?);
        ids.extend(publisher.enqueue_all((0..rest).map(|_| Free)).await?);
        Ok(ids)
    }
}
