//! R85, R80: a store that fails for a while, and one that has declared the worker dead.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use warp_runtime::prelude::*;
use warp_runtime::storage::clock::Clock;
use warp_runtime::storage::model::{
    Cancelled, Counters, Dispatch, Dispatched, Job as StoredJob, JobFilter, JobState, LogEntry,
    NewJob, NewWorker, ReadBack, Resolver, Sweep, Swept,
};
use warp_runtime::storage::store::{CallersConnection, async_trait};
use warp_runtime::storage::{Changes, Storage, Store, StoreError};
use warp_runtime::{ClaimId, JobId, WorkerId};
use warp_tests::{Witness, World, seconds, start};

/// Memory whose next dispatch turns fail, or are not answered, or that is down altogether.
#[derive(Clone, Debug)]
struct Flaky {
    memory: Memory,
    /// How many of the next turns fail.
    failures: Arc<AtomicU32>,
    /// How many of the next turns that do something take effect without an answer.
    unanswered: Arc<AtomicU32>,
    /// How many results came too late.
    stale: Arc<AtomicU32>,
    turns: Arc<AtomicU32>,
    is_down: Arc<AtomicBool>,
}

impl Flaky {
    fn new(world: &World) -> Self {
        Self {
            memory: world.memory.clone(),
            failures: Arc::default(),
            unanswered: Arc::default(),
            stale: Arc::default(),
            turns: Arc::default(),
            is_down: Arc::default(),
        }
    }

    fn turn(&self) -> Result<(), StoreError> {
        self.turns.fetch_add(1, Ordering::SeqCst);
        if is_next(&self.failures) {
            return Err(failure());
        }
        self.is_up()
    }

    fn is_up(&self) -> Result<(), StoreError> {
        if self.is_down.load(Ordering::SeqCst) {
            return Err(failure());
        }
        Ok(())
    }
}

/// Takes one of those that are left.
fn is_next(left: &AtomicU32) -> bool {
    let one_less = |left: u32| left.checked_sub(1);
    let taken = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less);
    taken.is_ok()
}

fn failure() -> StoreError {
    StoreError::Unavailable {
        source: "connection reset".into(),
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
    async fn another(&self) -> Result<Storage, StoreError> {
        Ok(self.clone().into())
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
        self.is_up()?;
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
        self.turn()?;
        let brings = !turn.finished.is_empty();
        let dispatched = self.memory.dispatch(turn, resolver).await?;
        let stale = u32::try_from(dispatched.stale.len()).unwrap_or(u32::MAX);
        self.stale.fetch_add(stale, Ordering::SeqCst);
        if (brings || !dispatched.started.is_empty()) && is_next(&self.unanswered) {
            return Err(failure());
        }
        Ok(dispatched)
    }
    async fn read_back(
        &self,
        worker: WorkerId,
        known: BTreeSet<ClaimId>,
    ) -> Result<ReadBack, StoreError> {
        self.is_up()?;
        self.memory.read_back(worker, known).await
    }
    async fn disown(
        &self,
        worker: WorkerId,
        claim: ClaimId,
        error: String,
        sweep: Sweep,
    ) -> Result<(), StoreError> {
        self.memory.disown(worker, claim, error, sweep).await
    }
    async fn sweep(&self, sweep: Sweep) -> Result<Swept, StoreError> {
        self.is_up()?;
        self.memory.sweep(sweep).await
    }
    async fn cancel(&self, id: JobId) -> Result<Cancelled, StoreError> {
        self.memory.cancel(id).await
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

/// R85: a turn that was not answered, but took effect, is read back: what it started runs, and what it ended is not ended again.
#[tokio::test(start_paused = true)]
async fn a_turn_that_was_not_answered_is_read_back() {
    let world = World::new();
    let store = Flaky::new(&world);
    let worker = Worker::builder(store.clone()).lease(Duration::from_hours(1));
    store.unanswered.store(1, Ordering::SeqCst);
    let worker = start(worker.handler::<Task, _>(Runner(world.witness.clone())));
    let ids = world.publisher.enqueue_all([Task; 3]).await.unwrap();
    world.until(5.0).await;
    assert_eq!(world.witness.runs().len(), 1, "the start was read back");
    // The turn that ends the first, and starts the second; then the one that ends the second, and so on.
    store.unanswered.store(3, Ordering::SeqCst);
    world.until_all_ended().await;
    assert!(world.seconds() < 35.0, "no time was lost");
    worker.stop().await;
    assert_eq!(store.unanswered.load(Ordering::SeqCst), 0);
    assert_eq!(store.stale.load(Ordering::SeqCst), 0, "known to be written");
    assert_eq!(world.witness.runs().len(), 3);
    assert_eq!(world.witness.most_at_once("task"), 1);
    for id in ids {
        let log = world.log(id).await;
        let ends = log.iter().filter(|line| *line == "succeeded").count();
        let starts = log.iter().filter(|line| line.starts_with("started"));
        assert_eq!((starts.count(), ends), (1, 1), "{log:#?}");
    }
}

/// R83, R85: what a turn started that was not answered before the worker had to stop goes back at once, and was no attempt.
#[tokio::test(start_paused = true)]
async fn what_was_started_unknown_to_a_worker_that_stops_goes_back() {
    let world = World::new();
    let store = Flaky::new(&world);
    let worker = Worker::builder(store.clone()).lease(Duration::from_hours(1));
    let worker = worker.handler::<LongTask, _>(Runner(world.witness.clone()));
    let worker = start(worker.grace(Duration::from_secs(400)));
    let runs = world.publisher.enqueue(LongTask).await.unwrap();
    world.until(1.0).await;
    store.unanswered.store(1, Ordering::SeqCst);
    let id = world.publisher.enqueue(LongTask).await.unwrap();
    while store.unanswered.load(Ordering::SeqCst) > 0 {
        tokio::task::yield_now().await;
    }
    let stopping = tokio::spawn(worker.stop());
    world.until(10.0).await;
    let job = world.job(id).await;
    assert_eq!((job.state, job.attempts), (JobState::Enqueued, 0));
    assert_eq!(world.job(runs).await.state, JobState::Processing);
    stopping.await.unwrap();
    assert_eq!(world.job(runs).await.state, JobState::Succeeded);
    assert_eq!(world.witness.runs().len(), 1);
}

/// R85: now and then a worker sees whether it still has what it runs, and stops the handlers of jobs that it has no more.
#[tokio::test(start_paused = true)]
async fn a_handler_whose_job_was_taken_away_is_stopped() {
    let world = World::new();
    let worker = Worker::builder(world.memory.clone()).lease(Duration::from_secs(30));
    let worker = start(worker.handler::<Task, _>(Stubborn(world.witness.clone())));
    let id = world.publisher.enqueue(Task).await.unwrap();
    world.until(1.0).await;
    let (owner, claim) = world.job(id).await.claim.unwrap();
    world.end_by_hand(owner, claim, id).await;
    world.until(13.0).await;
    let asked = world.witness.of("asked to end");
    assert_eq!(asked.len(), 1, "within a third of the lease");
    assert_eq!(world.witness.of("stubborn").len(), 1);
    assert_eq!(world.job(id).await.state, JobState::Succeeded);
    worker.stop().await;
    assert_eq!(asked[0].ended, None, "it was dropped");
}

/// Says when it was asked to end, and goes on.
struct Stubborn(Witness);

impl JobHandler<Task> for Stubborn {
    async fn handle(&self, _: Task, ctx: &JobContext) -> JobResult {
        let asked = async {
            ctx.cancelled().await;
            let work = self.0.work("asked to end", ctx, Duration::from_hours(1));
            work.await;
        };
        self.0.watch("stubborn", ctx, asked).await;
        Ok(())
    }
}

/// R81: a worker that cannot renew its lease asks its handlers to end at half of it and drops them at two thirds, before anybody else may begin.
/// Their jobs go back to the queue, and that is no attempt.
#[tokio::test(start_paused = true)]
async fn handlers_end_before_a_lease_that_cannot_be_renewed_does() {
    let world = World::new();
    let store = Flaky::new(&world);
    let worker = Worker::builder(store.clone()).lease(Duration::from_secs(60));
    let worker = start(worker.handler::<Task, _>(Stubborn(world.witness.clone())));
    let id = world.publisher.enqueue(Task).await.unwrap();
    world.until(45.0).await;
    store.is_down.store(true, Ordering::SeqCst);
    world.until(85.0).await;
    let asked = world.witness.of("asked to end");
    assert_eq!(asked.len(), 1);
    let at = seconds(asked[0].began);
    assert!((65.0..72.0).contains(&at), "asked at {at}");
    store.is_down.store(false, Ordering::SeqCst);
    world.until(95.0).await;
    let runs = world.witness.of("stubborn");
    assert_eq!(runs.len(), 2, "{runs:#?}");
    assert_eq!(runs[0].ended, None, "it was dropped");
    assert_eq!((runs[1].job, runs[1].attempt), (id, 1));
    let log = world.log(id).await;
    let events: Vec<&str> = log
        .iter()
        .filter_map(|line| line.split([' ', ',']).next())
        .collect();
    assert_eq!(
        events,
        ["enqueued", "started", "returned", "started"],
        "none started in vain"
    );

    // And those that started after an outage end in the next one.
    store.is_down.store(true, Ordering::SeqCst);
    world.until(150.0).await;
    assert_eq!(world.witness.of("asked to end").len(), 2);
    worker.kill().await;
}

/// R81: one that can renew it again in time is not disturbed.
#[tokio::test(start_paused = true)]
async fn a_short_outage_stops_no_handler() {
    let world = World::new();
    let store = Flaky::new(&world);
    let worker = Worker::builder(store.clone()).lease(Duration::from_secs(60));
    let worker = start(worker.handler::<Task, _>(Stubborn(world.witness.clone())));
    world.publisher.enqueue(Task).await.unwrap();
    for outage in 0..10 {
        let from = f64::from(outage) * 60.0;
        world.until(from + 45.0).await;
        store.is_down.store(true, Ordering::SeqCst);
        world.until(from + 60.0).await;
        store.is_down.store(false, Ordering::SeqCst);
    }
    assert_eq!(world.witness.of("stubborn").len(), 1);
    assert_eq!(world.witness.of("asked to end").len(), 0);
    worker.kill().await;
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, Job)]
struct LongTask;

impl JobHandler<LongTask> for Runner {
    async fn handle(&self, _: LongTask, ctx: &JobContext) -> JobResult {
        self.0.work("long", ctx, Duration::from_secs(300)).await;
        Ok(())
    }
}

/// R86: while a store was down for all of them workers were silent for longer than their lease; none is declared dead for it, by the others
/// or by one that has just begun.
#[tokio::test(start_paused = true)]
async fn workers_whose_store_was_down_do_not_bury_each_other() {
    let world = World::new();
    let store = Flaky::new(&world);
    let worker = || {
        let worker = Worker::builder(store.clone()).lease(Duration::from_secs(6));
        let worker = worker.handler::<LongTask, _>(Runner(world.witness.clone()));
        start(worker.concurrency(1))
    };
    let mut workers = vec![worker(), worker()];
    let ids = world.publisher.enqueue_all([LongTask; 2]).await.unwrap();
    world.until(5.0).await;
    assert_eq!(world.count(JobState::Processing).await, 2);
    store.is_down.store(true, Ordering::SeqCst);
    world.until(65.0).await;
    workers.push(worker());
    store.is_down.store(false, Ordering::SeqCst);
    world.until_all_ended().await;
    for worker in workers {
        worker.stop().await;
    }
    for id in ids {
        let job = world.job(id).await;
        assert_eq!((job.state, job.lost), (JobState::Succeeded, 0));
    }
    let dropped = world.witness.runs();
    let dropped = dropped.iter().filter(|run| run.ended.is_none());
    assert_eq!(dropped.count(), 2, "nobody could know (R81)");
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
