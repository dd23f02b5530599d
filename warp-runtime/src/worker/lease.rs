//! The lease: since when the store holds this worker for alive, and what becomes of its handlers when that cannot be renewed (R81).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use warp_policy::Timestamp;
use warp_storage::clock::Clock;

/// What a handler is stopped by.
#[derive(Clone, Debug, Default)]
pub(super) struct Stop {
    /// It is asked to end.
    pub(super) cancelled: CancellationToken,
    /// It is dropped where it stands.
    pub(super) aborted: CancellationToken,
}

/// The lease of one worker. Clones share it.
///
/// It is renewed three times in its length. After five twelfths without, [`Heart`](super::heart::Heart) tries as well, from a thread of
/// its own; at half of it the handlers are asked to end, at two thirds they are dropped: nobody else is given their jobs before that.
#[derive(Clone, Debug)]
pub(super) struct Lease {
    length: Duration,
    clock: Arc<dyn Clock>,
    renewal: Arc<watch::Sender<Renewal>>,
    stop: Arc<Mutex<Stop>>,
    /// How many handlers run under it.
    handlers: Arc<watch::Sender<usize>>,
}

/// A handler that runs under a lease, until it is dropped.
#[derive(Debug)]
pub(super) struct UnderLease(Arc<watch::Sender<usize>>);

impl Drop for UnderLease {
    fn drop(&mut self) {
        self.0.send_modify(|handlers| *handlers -= 1);
    }
}

#[derive(Clone, Copy, Debug)]
struct Renewal {
    at: Timestamp,
    reclaims_from: Timestamp,
}

impl Lease {
    /// A lease that begins now.
    pub(super) fn new(length: Duration, clock: Arc<dyn Clock>) -> Self {
        let at = clock.now();
        let reclaims_from = at.plus(length);
        let renewal = watch::Sender::new(Renewal { at, reclaims_from });
        Self {
            length,
            clock,
            renewal: Arc::new(renewal),
            stop: Arc::default(),
            handlers: Arc::new(watch::Sender::new(0)),
        }
    }

    pub(super) fn length(&self) -> Duration {
        self.length
    }

    /// Until then somebody should have renewed it.
    pub(super) fn patience(&self) -> Duration {
        self.length * 5 / 12
    }

    /// The store has noted that the worker is alive, not before `at`. What starts from now on is not stopped by what was missed before.
    pub(super) fn renewed(&self, at: Timestamp) {
        self.renewal.send_modify(|renewal| {
            if at.since(renewal.at) > self.length / 2 {
                renewal.reclaims_from = self.clock.now().plus(self.length);
            }
            renewal.at = at;
        });
        self.renew_stop();
    }

    pub(super) fn renewed_at(&self) -> Timestamp {
        self.renewal.borrow().at
    }

    /// Whether this worker may declare others dead. One that could not renew for half a lease was held up, and so may have been the others:
    /// it reclaims nobody before one more lease has passed (R86). Nor does one that has just begun, since it cannot know.
    pub(super) fn may_reclaim(&self) -> bool {
        self.clock.now() >= self.renewal.borrow().reclaims_from
    }

    /// What stops the handlers that start now.
    pub(super) fn stop(&self) -> Stop {
        self.lock().clone()
    }

    /// Counts a handler.
    pub(super) fn one_handler(&self) -> UnderLease {
        self.handlers.send_modify(|handlers| *handlers += 1);
        UnderLease(Arc::clone(&self.handlers))
    }

    pub(super) fn handlers(&self) -> usize {
        *self.handlers.borrow()
    }

    /// Ends when no handler runs under it any more.
    pub(super) async fn handlers_have_ended(&self) {
        let mut handlers = self.handlers.subscribe();
        // It is not closed as long as the lease is there.
        let _ = handlers.wait_for(|&handlers| handlers == 0).await;
    }

    /// Stops the handlers whenever the lease is not renewed in time. A worker that goes on after it was frozen, maybe with all others, has
    /// as long from then on.
    pub(super) async fn guard(self) {
        loop {
            let seen = self.lapses().await;
            if self.is_renewed_within(self.length / 12, seen).await {
                continue;
            }
            tracing::warn!(
                "the lease was not renewed for half its length: the handlers are asked to end"
            );
            self.stop().cancelled.cancel();
            if !self.is_renewed_within(self.length / 6, seen).await {
                tracing::warn!(
                    "the lease was not renewed for two thirds of its length: the handlers are dropped"
                );
                self.stop().aborted.cancel();
                self.is_renewed(seen).await;
            }
            // The renewal may have come just before the handlers were stopped.
            self.renew_stop();
        }
    }

    /// What starts from now on has another stop, if the one before was used. Else that one is still there for those who run.
    fn renew_stop(&self) {
        let mut stop = self.lock();
        if stop.cancelled.is_cancelled() {
            *stop = Stop::default();
        }
    }

    /// Ends when the lease was not renewed for longer than anybody's patience, and tells when it was renewed last.
    async fn lapses(&self) -> Timestamp {
        loop {
            let seen = self.renewed_at();
            let passed = self.clock.now().since(seen);
            match self.patience().checked_sub(passed) {
                Some(left) if !left.is_zero() => self.clock.sleep(left).await,
                _ => return seen,
            }
        }
    }

    async fn is_renewed_within(&self, limit: Duration, seen: Timestamp) -> bool {
        tokio::select! {
            biased;
            () = self.is_renewed(seen) => true,
            () = self.clock.sleep(limit) => false,
        }
    }

    /// Ends once the lease was renewed at another instant than this.
    async fn is_renewed(&self, seen: Timestamp) {
        let mut renewal = self.renewal.subscribe();
        // It is not closed as long as the lease is there.
        let _ = renewal.wait_for(|renewal| renewal.at != seen).await;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Stop> {
        self.stop.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
