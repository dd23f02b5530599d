//! A world for end-to-end tests: a store, a worker, a witness, and a clock on which hours pass in milliseconds.
//!
//! The clock is tokio's, paused: whenever every task waits, it jumps to the next timer. Whether a limit was kept is judged by what the
//! handlers record in the [`Witness`], from outside the store.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "test support"
)]

pub mod processes;

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use warp_runtime::storage::model::{
    Dispatch, End, Finished, Job as StoredJob, JobFilter, JobState, Resolution, Resolver,
    Unresolved,
};
use warp_runtime::storage::{Clock, Store, TokioClock};
use warp_runtime::worker::WorkerBuilder;
use warp_runtime::{
    ClaimId, JobContext, JobId, Memory, Publisher, Timestamp, Worker, WorkerError, WorkerId,
};

/// The instant at which every world begins: a full minute, and a full week, of UTC.
pub const DAWN: Timestamp = Timestamp::from_secs(604_800 * 2_900);

/// A store on a paused clock, and what the handlers saw.
#[derive(Clone, Debug)]
pub struct World {
    /// The clock.
    pub clock: TokioClock,
    /// The store.
    pub memory: Memory,
    /// A publisher into it.
    pub publisher: Publisher,
    /// What the handlers saw.
    pub witness: Witness,
}

impl World {
    /// A new world, at [`DAWN`]. Call it in a `#[tokio::test(start_paused = true)]`.
    pub fn new() -> Self {
        let clock = TokioClock::new(DAWN);
        let memory = Memory::with_clock(clock);
        Self {
            clock,
            publisher: Publisher::new(memory.clone()),
            memory,
            witness: Witness::new(clock),
        }
    }

    /// A worker to add handlers to. Its lease outlives every test, so that jumps of the clock kill nobody.
    pub fn worker(&self) -> WorkerBuilder {
        Worker::builder(self.memory.clone()).lease(Duration::from_hours(24 * 365))
    }

    /// Seconds since [`DAWN`].
    pub fn seconds(&self) -> f64 {
        seconds(self.clock.now())
    }

    /// Lets time go by until `seconds` after [`DAWN`].
    pub async fn until(&self, seconds: f64) {
        let at = DAWN.plus(Duration::from_secs_f64(seconds));
        self.clock.sleep(at.since(self.clock.now())).await;
    }

    /// Lets time go by until every job has ended.
    pub async fn until_all_ended(&self) {
        for _ in 0..1_000_000 {
            let mut is_over = true;
            for state in [
                JobState::Scheduled,
                JobState::Enqueued,
                JobState::Waiting,
                JobState::Processing,
            ] {
                let one = JobFilter {
                    state: Some(state),
                    limit: 1,
                    ..JobFilter::default()
                };
                is_over &= self.memory.jobs(one).await.unwrap().is_empty();
            }
            if is_over {
                return;
            }
            self.clock.sleep(Duration::from_secs(1)).await;
        }
        panic!("jobs are left: {:#?}", self.jobs().await);
    }

    /// Every job of the store.
    pub async fn jobs(&self) -> Vec<StoredJob> {
        let filter = JobFilter {
            limit: usize::MAX,
            ..JobFilter::default()
        };
        self.memory.jobs(filter).await.unwrap()
    }

    /// One job of the store.
    pub async fn job(&self, id: JobId) -> StoredJob {
        self.memory.job(id).await.unwrap().unwrap()
    }

    /// How many jobs are in this state.
    pub async fn count(&self, state: JobState) -> usize {
        self.jobs()
            .await
            .iter()
            .filter(|job| job.state == state)
            .count()
    }

    /// Ends a job as a hand on the store could, unknown to the worker that runs it.
    pub async fn end_by_hand(&self, worker: WorkerId, claim: ClaimId, job: JobId) {
        let turn = Dispatch {
            worker,
            turn: 0,
            finished: vec![Finished {
                job,
                claim,
                end: End::Succeeded,
            }],
            room: 0,
            fetch: 0,
        };
        self.memory.dispatch(turn, &Nothing).await.unwrap();
    }

    /// The log of a job, one line an entry.
    pub async fn log(&self, id: JobId) -> Vec<String> {
        self.memory
            .log(id)
            .await
            .unwrap()
            .iter()
            .map(|entry| entry.event.to_string())
            .collect()
    }
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

/// Resolves nothing: a turn without room reads no job.
#[derive(Debug)]
struct Nothing;

impl Resolver for Nothing {
    fn resolve(&self, job: &Unresolved) -> Resolution {
        Resolution::Fail(format!("job {} was not to be judged", job.id))
    }
}

/// Seconds since [`DAWN`].
#[expect(clippy::cast_precision_loss, reason = "tests span days")]
pub fn seconds(at: Timestamp) -> f64 {
    (at.as_micros() - DAWN.as_micros()) as f64 / 1e6
}

/// A worker that runs beside the test.
#[derive(Debug)]
pub struct RunningWorker {
    shutdown: oneshot::Sender<()>,
    task: JoinHandle<Result<(), WorkerError>>,
}

/// Starts a worker.
pub fn start(worker: WorkerBuilder) -> RunningWorker {
    let (shutdown, stopped) = oneshot::channel();
    let worker = worker.build().unwrap();
    let task = tokio::spawn(worker.run_until(async {
        let _ = stopped.await;
    }));
    RunningWorker { shutdown, task }
}

impl RunningWorker {
    /// Shuts it down and waits for its end.
    pub async fn stop(self) {
        let _ = self.shutdown.send(());
        self.task.await.unwrap().unwrap();
    }

    /// Drops it with its handlers, as if its process had died.
    pub async fn kill(self) {
        self.task.abort();
        assert!(self.task.await.unwrap_err().is_cancelled());
    }
}

/// What the handlers saw.
#[derive(Clone, Debug)]
pub struct Witness {
    clock: TokioClock,
    runs: Arc<Mutex<Vec<Run>>>,
}

/// One run of a handler.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// What the test calls it.
    pub label: String,
    /// The job.
    pub job: JobId,
    /// The number of the attempt.
    pub attempt: u32,
    /// The admission instant.
    pub admitted_at: Timestamp,
    /// When the handler began.
    pub began: Timestamp,
    /// When it ended; `None` while it runs, and after it was dropped.
    pub ended: Option<Timestamp>,
}

impl Witness {
    fn new(clock: TokioClock) -> Self {
        Self {
            clock,
            runs: Arc::default(),
        }
    }

    /// Records a run that takes so long.
    pub async fn work(&self, label: impl Into<String>, context: &JobContext, duration: Duration) {
        self.watch(label, context, self.clock.sleep(duration)).await;
    }

    /// Records a run that takes as long as `work`.
    pub async fn watch<T>(
        &self,
        label: impl Into<String>,
        context: &JobContext,
        work: impl Future<Output = T>,
    ) -> T {
        let index = {
            let mut runs = self.lock();
            runs.push(Run {
                label: label.into(),
                job: context.id(),
                attempt: context.attempt(),
                admitted_at: context.admitted_at(),
                began: self.clock.now(),
                ended: None,
            });
            runs.len() - 1
        };
        let result = work.await;
        self.lock()[index].ended = Some(self.clock.now());
        result
    }

    /// The runs so far, in the order in which they began.
    pub fn runs(&self) -> Vec<Run> {
        self.lock().clone()
    }

    /// The runs with this label.
    pub fn of(&self, label: &str) -> Vec<Run> {
        self.runs()
            .into_iter()
            .filter(|run| run.label == label)
            .collect()
    }

    /// The admission instants, in seconds after [`DAWN`].
    pub fn starts(&self) -> Vec<f64> {
        self.runs()
            .iter()
            .map(|run| seconds(run.admitted_at))
            .collect()
    }

    /// The most runs at once among those whose label begins so.
    pub fn most_at_once(&self, label: &str) -> usize {
        let runs: Vec<Run> = self
            .runs()
            .into_iter()
            .filter(|run| run.label.starts_with(label))
            .collect();
        let running_at = |at: Timestamp| {
            runs.iter()
                .filter(|run| run.began <= at && run.ended.is_none_or(|ended| ended > at))
                .count()
        };
        runs.iter()
            .map(|run| running_at(run.began))
            .max()
            .unwrap_or(0)
    }

    /// The most starts in any interval `(t − window, t]`, by the admission instant.
    pub fn busiest_window(&self, window: Duration) -> usize {
        busiest(
            &self
                .runs()
                .iter()
                .map(|run| run.admitted_at)
                .collect::<Vec<_>>(),
            window,
        )
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Run>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The most of these instants in any interval `(t − window, t]`.
pub fn busiest(instants: &[Timestamp], window: Duration) -> usize {
    let in_window = |end: &Timestamp| {
        instants
            .iter()
            .filter(|at| *at <= end && **at > end.minus(window))
            .count()
    };
    instants.iter().map(in_window).max().unwrap_or(0)
}
