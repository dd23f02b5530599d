//! R80, R81: how a lease is kept, and what becomes of handlers when it cannot be.

use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use warp_runtime::prelude::*;
use warp_runtime::storage::Store;
use warp_runtime::storage::clock::{Clock, SystemClock};
use warp_runtime::storage::model::{Event, Job as StoredJob, JobState, Sweep};
use warp_runtime::worker::{LEASE_LOST_STATUS, OnLeaseLost};

#[mutex("report", mode = "wait")]
#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
struct Report;

/// Blocks the thread that it runs on until it is told to end.
#[derive(Clone, Default)]
struct Blocks {
    begun: Arc<Notify>,
    may_end: Arc<(Mutex<bool>, Condvar)>,
}

impl Blocks {
    fn wait(&self) -> Result<(), JobError> {
        let (may_end, changed) = &*self.may_end;
        let guard = may_end.lock().map_err(|_| JobError::new("poisoned"))?;
        let waited = changed.wait_while(guard, |may_end| !*may_end);
        waited.map(drop).map_err(|_| JobError::new("poisoned"))
    }

    fn end(&self) {
        let (may_end, changed) = &*self.may_end;
        *may_end.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
    }

    fn may_end(&self) -> bool {
        let (may_end, _) = &*self.may_end;
        *may_end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl JobHandler<Report> for Blocks {
    async fn handle(&self, _: Report, _: &JobContext) -> JobResult {
        self.begun.notify_one();
        self.wait()
    }
}

/// S03, second variant: a handler that blocks the only thread of its worker's runtime for longer than its lease keeps its job.
#[tokio::test]
async fn a_handler_that_blocks_every_thread_keeps_its_lease() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("jobs.db");
    let lease = Duration::from_secs(6);
    let blocks = Blocks::default();
    let storage = Sqlite::open(&file).await?;
    let ids = Publisher::new(storage.clone())
        .enqueue_all([Report; 2])
        .await?;
    let worker = std::thread::spawn({
        let blocks = blocks.clone();
        move || -> Result<(), String> {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let text = |error: &dyn Error| error.to_string();
            runtime.map_err(|error| text(&error))?.block_on(async {
                let storage = Sqlite::open(&file).await.map_err(|error| text(&error))?;
                let done = blocks.clone();
                let worker = Worker::builder(storage)
                    .handler::<Report, _>(blocks)
                    .lease(lease);
                let worker = worker.build().map_err(|error| text(&error))?;
                let until_done = async {
                    while !done.may_end() {
                        SystemClock.sleep(Duration::from_millis(10)).await;
                    }
                };
                worker
                    .run_until(until_done)
                    .await
                    .map_err(|error| text(&error))
            })
        }
    });
    blocks.begun.notified().await;
    // Somebody else looks for the dead all the time, for longer than the lease.
    let began = SystemClock.now();
    while SystemClock.now().since(began) < lease * 4 / 3 {
        let swept = storage.sweep(Sweep { max_lost: 3 }).await?;
        assert_eq!(swept.dead, []);
        SystemClock.sleep(lease / 30).await;
    }
    let job = storage.job(ids[0]).await?.ok_or("it is gone")?;
    assert_eq!((job.state, job.lost), (JobState::Processing, 0));
    blocks.end();
    worker.join().map_err(|_| "the worker panicked")??;
    let log = storage.log(ids[0]).await?;
    assert!(
        log.iter().any(|line| line.event == Event::Succeeded),
        "{log:#?}"
    );
    Ok(())
}

/// What a test starts in a process of its own: a worker on the file whose handler blocks every thread for ever.
const CHILD: &str = "WARP_TEST_LEASES_CHILD";

const SHORT_LEASE: Duration = Duration::from_secs(3);

/// Where something has to happen within a lease, on a busy machine as well.
const LONG_LEASE: Duration = Duration::from_secs(12);

/// No tests of their own: see [`CHILD`]. In the first the handler blocks everything, in the second the dispatcher goes on.
#[tokio::test]
async fn a_worker_on_one_thread() -> Result<(), Box<dyn Error>> {
    work_as_child().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_worker_on_threads() -> Result<(), Box<dyn Error>> {
    work_as_child().await
}

async fn work_as_child() -> Result<(), Box<dyn Error>> {
    let Ok(told) = std::env::var(CHILD) else {
        return Ok(());
    };
    let mut told = told.splitn(3, ' ');
    let on_lease_lost = match told.next() {
        Some("exit") => OnLeaseLost::Exit,
        _ => OnLeaseLost::Fence,
    };
    let lease = Duration::from_secs(told.next().ok_or("no lease")?.parse()?);
    let file = told.next().ok_or("no file")?;
    let worker = Worker::builder(Sqlite::open(file).await?).lease(lease);
    let worker = worker.handler::<Report, _>(Blocks::default());
    let worker = worker.on_lease_lost(on_lease_lost).build()?;
    worker.run_until(std::future::pending()).await?;
    Ok(())
}

/// A process that is killed at the end of the test, if it is still there.
struct Child(std::process::Child);

impl Child {
    fn start(
        kind: &str,
        on_lease_lost: &str,
        lease: Duration,
        file: &Path,
    ) -> Result<Self, Box<dyn Error>> {
        let child = Command::new(std::env::current_exe()?)
            .args(["--exact", kind])
            .env(
                CHILD,
                format!("{on_lease_lost} {} {}", lease.as_secs(), file.display()),
            )
            .stdout(Stdio::null())
            .spawn()?;
        Ok(Self(child))
    }

    /// The status with which it ends.
    async fn status(&mut self) -> Result<Option<i32>, Box<dyn Error>> {
        let began = SystemClock.now();
        loop {
            if let Some(status) = self.0.try_wait()? {
                return Ok(status.code());
            }
            if SystemClock.now().since(began) > Duration::from_secs(60) {
                return Err("it does not end".into());
            }
            SystemClock.sleep(Duration::from_millis(10)).await;
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A file with a job that a worker in a process of its own runs.
async fn running_elsewhere(
    kind: &str,
    on_lease_lost: &str,
    lease: Duration,
    folder: &Path,
) -> Result<(Child, Sqlite, StoredJob), Box<dyn Error>> {
    let file = folder.join("jobs.db");
    let storage = Sqlite::open(&file).await?;
    let id = Publisher::new(storage.clone()).enqueue(Report).await?;
    let child = Child::start(kind, on_lease_lost, lease, &file)?;
    loop {
        let job = storage.job(id).await?.ok_or("it is gone")?;
        if job.state == JobState::Processing {
            return Ok((child, storage, job));
        }
        SystemClock.sleep(Duration::from_millis(10)).await;
    }
}

/// R81: a process that cannot renew its lease, and cannot stop its handler, ends before anybody else is given the job.
#[tokio::test]
async fn a_process_that_is_told_to_ends_before_its_lease_does() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let (mut child, storage, job) =
        running_elsewhere("a_worker_on_one_thread", "exit", LONG_LEASE, folder.path()).await?;
    // Nobody can write any more, the heart of the worker neither.
    let holds = storage.begin().await?;
    assert_eq!(child.status().await?, Some(LEASE_LOST_STATUS));
    drop(holds);
    let swept = storage.sweep(Sweep { max_lost: 3 }).await?;
    assert_eq!(swept.dead, [], "it ended before its lease");
    let job = storage.job(job.id).await?.ok_or("it is gone")?;
    assert_eq!(job.state, JobState::Processing);
    Ok(())
}

/// R81: one that was declared dead ends as well, be every thread of its runtime blocked or not.
#[tokio::test]
async fn a_process_that_was_declared_dead_ends_if_told_to() -> Result<(), Box<dyn Error>> {
    for kind in ["a_worker_on_one_thread", "a_worker_on_threads"] {
        let folder = tempfile::tempdir()?;
        let running = running_elsewhere(kind, "exit", SHORT_LEASE, folder.path());
        let (mut child, storage, job) = running.await?;
        let (worker, _) = job.claim.ok_or("nobody runs it")?;
        storage.deregister(worker).await?;
        assert_eq!(child.status().await?, Some(LEASE_LOST_STATUS), "{kind}");
    }
    Ok(())
}

/// R81: by default it goes on beside the worker that has its jobs then.
#[tokio::test]
async fn a_process_that_is_not_told_to_end_goes_on() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let (mut child, storage, job) =
        running_elsewhere("a_worker_on_threads", "fence", SHORT_LEASE, folder.path()).await?;
    let holds = storage.begin().await?;
    SystemClock.sleep(SHORT_LEASE * 4 / 3).await;
    drop(holds);
    // Whether its heart or the sweep comes first, both know that it is silent.
    let (worker, _) = job.claim.ok_or("nobody runs it")?;
    let _ = storage.deregister(worker).await;
    SystemClock.sleep(SHORT_LEASE).await;
    assert_eq!(child.0.try_wait()?, None);
    Ok(())
}
