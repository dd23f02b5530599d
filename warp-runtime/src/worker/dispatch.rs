//! The dispatcher: turn after turn, and asleep in between.

use std::sync::Arc;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use warp_policy::Timestamp;
use warp_policy::ids::WorkerId;
use warp_storage::clock::{Clock, Sleep};
use warp_storage::model::{Dispatch, Dispatched, Finished, NewWorker, Started};
use warp_storage::{Changes, Storage, StoreError};

use super::pulse::Pulse;
use super::refused::Disowned;
use super::running::Running;
use super::{Settings, Worker, WorkerError};
use crate::handlers::Handlers;

/// The most ready jobs that one turn reads when those in front can only be put in line (R45).
const MAX_FETCH: usize = 500;

/// How soon a store that has failed is asked again at first, and how late at most; within a third of the lease, so that a worker whose
/// store has recovered is seen before others may think that it is dead.
const FIRST_DELAY: Duration = Duration::from_millis(50);
const MAX_DELAY: Duration = Duration::from_secs(5);

/// Runs the turns of one worker.
#[derive(Debug)]
pub(super) struct Dispatcher {
    pub(super) storage: Storage,
    pub(super) clock: Arc<dyn Clock>,
    changes: Changes,
    /// Listened to apart, since cancelled jobs concern a worker without room as well.
    pub(super) cancels: Changes,
    handlers: Arc<Handlers>,
    pub(super) settings: Settings,
    pub(super) worker: WorkerId,
    pub(super) pulse: Pulse,
    pub(super) running: Running,
    pub(super) finished: Vec<Finished>,
    /// Attempts whose ends the store refuses, and that it could not give back either.
    pub(super) disowned: Vec<Disowned>,
    /// The last turn failed in a way that leaves open whether it took effect.
    pub(super) is_uncertain: bool,
    turn: u64,
    fetch: usize,
}

/// What the dispatcher does next.
pub(super) enum Next {
    /// Another turn at once.
    Turn,
    /// Nothing before this instant, unless something happens.
    Sleep(Option<Sleep>),
    /// Nothing before the store has recovered.
    BackOff(Sleep),
}

impl Dispatcher {
    pub(super) async fn register(
        Worker {
            storage,
            handlers,
            settings,
        }: Worker,
    ) -> Result<Self, WorkerError> {
        let changes = storage.changes();
        if let Some(secret) = &handlers.key_secret {
            let agreed = storage.agree_on_key_secret(secret.fingerprint()).await;
            agreed.map_err(WorkerError::Register)?;
        }
        let worker = register(&storage, &handlers, &settings)
            .await
            .map_err(WorkerError::Register)?;
        let pulse = Pulse::start(storage.clone(), worker, &settings);
        Ok(Self {
            clock: storage.clock(),
            cancels: changes.clone(),
            changes,
            worker,
            pulse,
            running: Running::new(Arc::clone(&handlers), settings.retry, storage.clock()),
            finished: Vec::new(),
            disowned: Vec::new(),
            is_uncertain: false,
            turn: 0,
            fetch: 0,
            storage,
            handlers,
            settings,
        })
    }

    pub(super) async fn run(
        mut self,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), WorkerError> {
        let mut shutdown = std::pin::pin!(shutdown);
        let lease = self.settings.lease;
        let mut trouble = trouble(lease);
        let mut next = Next::Turn;
        loop {
            next = match next {
                Next::Turn => {
                    // Handlers that are about to end get the chance to, so that this turn takes their results along. A turn that has
                    // begun is not given up: what it started would be lost.
                    tokio::select! {
                        biased;
                        () = &mut shutdown => break,
                        () = tokio::task::yield_now() => {}
                    }
                    match self.take_turn(true).await {
                        Ok(next) => {
                            trouble = self::trouble(lease);
                            next
                        }
                        Err(error) => self.recover(error, &mut trouble).await,
                    }
                }
                Next::Sleep(until) => tokio::select! {
                    biased;
                    () = &mut shutdown => break,
                    next = self.sleep(until) => next,
                },
                Next::BackOff(sleep) => tokio::select! {
                    biased;
                    () = &mut shutdown => break,
                    () = sleep => Next::Turn,
                },
            };
        }
        self.stop().await
    }

    /// One dispatch turn. What has finished stays with the dispatcher until the store has taken it.
    pub(super) async fn take_turn(&mut self, claims: bool) -> Result<Next, StoreError> {
        if self.is_uncertain {
            self.read_back(claims).await?;
        }
        self.collect();
        let room = if claims {
            self.settings.concurrency.saturating_sub(self.running.len())
        } else {
            0
        };
        let fetch = self.fetch.max(room);
        let before = self.clock.now();
        match self.turn(self.finished.clone(), room, fetch).await {
            Ok(dispatched) => {
                self.finished
                    .retain(|finished| dispatched.left.contains(&finished.claim));
                Ok(self.follow_up(dispatched, room, fetch, before))
            }
            Err(StoreError::Refused { .. }) if !self.finished.is_empty() => {
                self.write_apart().await?;
                Ok(Next::Turn)
            }
            Err(error) => Err(error),
        }
    }

    /// Has the store take a turn.
    pub(super) async fn turn(
        &mut self,
        finished: Vec<Finished>,
        room: usize,
        fetch: usize,
    ) -> Result<Dispatched, StoreError> {
        let ends = !finished.is_empty();
        let turn = Dispatch {
            worker: self.worker,
            turn: self.turn,
            finished,
            room,
            fetch,
        };
        self.turn += 1;
        let before = self.clock.now();
        let dispatched = self.storage.dispatch(turn, &*self.handlers).await;
        self.is_uncertain = dispatched.as_ref().is_err_and(StoreError::is_retryable);
        let dispatched = dispatched?;
        if ends || !dispatched.started.is_empty() {
            self.pulse.lease().renewed(before);
        }
        Ok(dispatched)
    }

    /// Notes what a turn has to say about other jobs than those it started.
    pub(super) fn hear(&self, dispatched: &Dispatched) {
        for job in &dispatched.stale {
            tracing::warn!(%job, "a result came after its claim was lost, and was refused");
        }
        for (job, error) in &dispatched.failed {
            tracing::warn!(%job, error, "a job cannot be judged, and failed");
        }
        for &job in &dispatched.cancelled {
            self.running.cancel_job(job);
        }
    }

    fn follow_up(
        &mut self,
        dispatched: Dispatched,
        room: usize,
        fetch: usize,
        before: Timestamp,
    ) -> Next {
        self.hear(&dispatched);
        let started = dispatched.started.len();
        // Where most of what was read could only be put in line, more is read, so that this is over soon.
        let reads_more = dispatched.refused > started;
        self.fetch = if reads_more {
            (fetch * 2).min(MAX_FETCH)
        } else {
            0
        };
        for job in dispatched.started {
            self.start(job);
        }
        if room == started {
            return Next::Sleep(None);
        }
        let Some(at) = dispatched.next_at else {
            return Next::Sleep(None);
        };
        let passed = self.clock.now().since(before);
        match at.since(dispatched.now).checked_sub(passed) {
            Some(left) if !left.is_zero() => Next::Sleep(Some(self.clock.sleep(left))),
            _ => Next::Turn,
        }
    }

    pub(super) fn start(&mut self, job: Started) {
        let started = self.running.start(job, self.pulse.lease());
        self.finished.extend(started);
    }

    /// Sleeps until a turn can do something. Without room that is only when a handler ends, or has to be stopped.
    async fn sleep(&mut self, until: Option<Sleep>) -> Next {
        let has_room = self.running.len() < self.settings.concurrency;
        if !self.finished.is_empty() {
            return Next::Turn;
        }
        tokio::select! {
            Some(finished) = self.running.next() => self.finished.push(finished),
            () = self.changes.changed(), if has_room => {}
            () = self.cancels.cancelled() => {}
            () = or_never(until), if has_room => {}
            () = self.pulse.wait() => self.beat().await,
        }
        Next::Turn
    }

    /// Between two turns: says that the worker is alive, and sees whether it runs what the store says.
    async fn beat(&mut self) {
        self.disown().await;
        let mut beaten = self.pulse.beat().await;
        if beaten.is_ok() && self.running.len() > 0 {
            beaten = self.read_back(true).await;
        }
        if let Err(error) = beaten {
            tracing::warn!(%error, "the heartbeat failed");
        }
    }

    /// Collects the handlers that have ended meanwhile, so that one turn serves them all.
    pub(super) fn collect(&mut self) {
        while let Some(finished) = self.running.try_next() {
            self.finished.push(finished);
        }
    }

    /// A store that fails is asked again later (R85). One that has declared this worker dead has given its jobs to others: the handlers
    /// are stopped, and the worker begins anew.
    async fn recover(&mut self, error: StoreError, trouble: &mut ExponentialBackoff) -> Next {
        tracing::warn!(%error, worker = %self.worker, "a dispatch turn failed; it is tried again");
        if matches!(error, StoreError::WorkerGone { .. }) {
            let (handlers, clock) = (Arc::clone(&self.handlers), Arc::clone(&self.clock));
            self.running = Running::new(handlers, self.settings.retry, clock);
            self.finished.clear();
            self.disowned.clear();
            self.is_uncertain = false;
            let lease = self.pulse.lease().clone();
            self.settings.on_lease_lost.carry_out(lease).await;
            match register(&self.storage, &self.handlers, &self.settings).await {
                Ok(worker) => {
                    self.worker = worker;
                    self.pulse = Pulse::start(self.storage.clone(), worker, &self.settings);
                    return Next::Turn;
                }
                Err(error) => tracing::warn!(%error, "the worker could not register itself again"),
            }
        }
        let delay = trouble.next().unwrap_or(MAX_DELAY);
        Next::BackOff(self.clock.sleep(delay))
    }
}

async fn register(
    storage: &Storage,
    handlers: &Handlers,
    settings: &Settings,
) -> Result<WorkerId, StoreError> {
    let worker = NewWorker {
        name: settings.name.clone(),
        queues: settings.queues.clone(),
        kinds: handlers.kinds(),
        lease: settings.lease,
    };
    storage.register(worker).await
}

async fn or_never(sleep: Option<Sleep>) {
    match sleep {
        Some(sleep) => sleep.await,
        None => std::future::pending().await,
    }
}

/// How long to wait after one failure of the store, after the next, and so on.
pub(super) fn trouble(lease: Duration) -> ExponentialBackoff {
    ExponentialBuilder::new()
        .with_min_delay(FIRST_DELAY)
        .with_max_delay(MAX_DELAY.min(lease / 3))
        .with_jitter()
        .without_max_times()
        .build()
}
