//! R85, R80: a store that fails for a while, and one that has declared the worker dead.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use warp_runtime::prelude::*;
use warp_runtime::storage::clock::Clock;
use warp_runtime::storage::model::{
    Counters, Dispatch, Dispatched, Job as StoredJob, JobFilter, JobState, LogEntry, NewJob,
    NewWorker, Resolver, Sweep, Swept,
};
use warp_runtime::storage::store::{CallersConnection, async_trait};
use warp_runtime::storage::{Changes, Store, StoreError};
use warp_runtime::{JobId, WorkerId};
use warp_tests::{Witness, World, start};

/// Memory whose next dispatch turns fail.
#[derive(Clone, Debug)]
struct Flaky {
    memory: Memory,
    /// How many of the next turns fail.
    failures: Arc<AtomicU32>,
    turns: Arc<AtomicU32>,
}

impl Flaky {
    fn new(world: &World) -> Self {
        Self {
            memory: world.memory.clone(),
            failures: Arc::default(),
            turns: Arc::default(),
        }
    }

    fn fails(counter: &AtomicU32) -> Result<(), StoreError> {
        let left = counter.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
            left.checked_sub(1)
        });
        match left {
            Ok(_) => Err(StoreError::Unavailable {
                source: "connection reset".into(),
            }),
            Err(_) => Ok(()),
        }
    }
}

#[async_trait]
impl Store for Flaky {
    fn clock(&self) -> Arc<dyn Clock> {
        self.memory.clock()
    }
    fn changes(&self) -> Changes {
        self.memory.changes()
    }
    async fn enqueue(&self, jobs: Vec<NewJob>) -> Result<Vec<JobId>, StoreError> {
        self.memory.enqueue(jobs).await
    }
    async fn enqueue_in(
        &self,
        connection: &mut CallersConnection,
        jobs: Vec<NewJob>,
    ) -> Result<Vec<JobId>, StoreError> {
        self.memory.enqueue_in(connection, jobs).await
    }
    async fn register(&self, worker: NewWorker) -> Result<WorkerId, StoreError> {
        self.memory.register(worker).await
    }
    async fn heartbeat(&self, worker: WorkerId) -> Result<(), StoreError> {
        self.memory.heartbeat(worker).await
    }
    async fn drain(&self, worker: WorkerId) -> Result<(), StoreError> {
        self.memory.drain(worker).await
    }
    async fn deregister(&self, worker: WorkerId) -> Result<(), StoreError> {
        self.memory.deregister(worker).await
    }
    async fn dispatch(
        &self,
        turn: Dispatch,
        resolver: &dyn Resolver,
    ) -> Result<Dispatched, StoreError> {
        self.turns.fetch_add(1, Ordering::SeqCst);
        Self::fails(&self.failures)?;
        self.memory.dispatch(turn, resolver).await
    }
    async fn sweep(&self, sweep: Sweep) -> Result<Swept, StoreError> {
        self.memory.sweep(sweep).await
    }
    async fn job(&self, id: JobId) -> Result<Option<StoredJob>, StoreError> {
        self.memory.job(id).await
    }
    async fn jobs(&self, filter: JobFilter) -> Result<Vec<StoredJob>, StoreError> {
        self.memory.jobs(filter).await
    }
    async fn log(&self, id: JobId) -> Result<Vec<LogEntry>, StoreError> {
        self.memory.log(id).await
    }
    async fn counters(&self) -> Result<Counters, StoreError> {
        self.memory.counters().await
    }
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
#[mutex("trouble", mode = "wait")]
struct Task;

struct Runner(Witness);

impl JobHandler<Task> for Runner {
    async fn handle(&self, _: Task, ctx: &JobContext) -> JobResult {
        self.0.work("task", ctx, Duration::from_secs(10)).await;
        Ok(())
    }
}

/// R85: while the store fails the worker neither ends nor spins, and no result is lost.
#[tokio::test(start_paused = true)]
async fn a_store_that_fails_for_a_while_is_asked_again_with_back_off() {
    let world = World::new();
    let store = Flaky::new(&world);
    let worker = Worker::builder(store.clone()).lease(Duration::from_hours(1));
    let worker = start(worker.handler::<Task, _>(Runner(world.witness.clone())));
    let ids = world.publisher.enqueue_all([Task, Task]).await.unwrap();
    world.until(5.0).await;
    store.failures.store(12, Ordering::SeqCst);
    let before = store.turns.load(Ordering::SeqCst);
    world.until(29.0).await;
    assert_eq!(
        world.job(ids[0]).await.state,
        JobState::Processing,
        "its result could not be written yet"
    );
    let tried = store.turns.load(Ordering::SeqCst) - before;
    assert!((6..=12).contains(&tried), "{tried} turns in 19 s");

    world.until_all_ended().await;
    worker.stop().await;
    assert_eq!(world.count(JobState::Succeeded).await, 2);
    assert_eq!(world.witness.runs().len(), 2);
    assert_eq!(world.witness.most_at_once("task"), 1);
}

/// R80, R81: a worker that was declared dead stops its handlers, and begins anew; nothing is recorded twice.
#[tokio::test(start_paused = true)]
async fn a_worker_that_was_declared_dead_begins_anew() {
    let world = World::new();
    let worker = world
        .worker()
        .handler::<Task, _>(Runner(world.witness.clone()));
    let running = start(worker);
    let id = world.publisher.enqueue(Task).await.unwrap();
    world.until(5.0).await;
    let (dead, _) = world.job(id).await.claim.unwrap();
    world.memory.deregister(dead).await.unwrap();
    world.until_all_ended().await;
    running.stop().await;

    let runs = world.witness.runs();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0].ended, None, "its handler was stopped");
    let job = world.job(id).await;
    assert_eq!(job.state, JobState::Succeeded);
    let log = world.log(id).await;
    assert_eq!(
        log.iter().filter(|line| *line == "succeeded").count(),
        1,
        "{log:#?}"
    );
}
