//! The only place where time is read.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::watch;
use warp_policy::Timestamp;

/// A future that ends when a clock has gone on.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A clock that can be waited for.
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// The present instant. It may go back.
    fn now(&self) -> Timestamp;

    /// Ends once this clock has gone on by `duration`. Cancel safe.
    fn sleep(&self, duration: Duration) -> Sleep;
}

/// The clock of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(clippy::disallowed_methods, reason = "this is the clock")]
        let now = SystemTime::now();
        match now.duration_since(UNIX_EPOCH) {
            Ok(since) => Timestamp::EPOCH.plus(since),
            Err(before) => Timestamp::EPOCH.minus(before.duration()),
        }
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        #[expect(clippy::disallowed_methods, reason = "this is the clock")]
        let sleep = tokio::time::sleep(duration);
        Box::pin(sleep)
    }
}

/// The clock of tokio's timers. Where a test pauses them, hours pass whenever every task waits, and nothing else changes.
#[derive(Clone, Copy, Debug)]
pub struct TokioClock {
    start: Timestamp,
    began: tokio::time::Instant,
}

impl TokioClock {
    /// A clock that shows `start` now. Call it within a tokio runtime.
    pub fn new(start: Timestamp) -> Self {
        #[expect(clippy::disallowed_methods, reason = "this is the clock")]
        let began = tokio::time::Instant::now();
        Self { start, began }
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        self.start.plus(self.began.elapsed())
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        SystemClock.sleep(duration)
    }
}

/// A clock that moves only when it is told to: hours pass in microseconds, and nothing races.
#[derive(Clone, Debug)]
pub struct ManualClock {
    now: Arc<watch::Sender<Timestamp>>,
}

impl ManualClock {
    /// A clock that stands at `start`.
    pub fn new(start: Timestamp) -> Self {
        Self {
            now: Arc::new(watch::Sender::new(start)),
        }
    }

    /// Moves the clock on and wakes the sleepers whose time has come.
    pub fn advance(&self, duration: Duration) {
        self.now.send_modify(|now| *now = now.plus(duration));
    }

    /// Sets the clock, backwards if need be.
    pub fn set(&self, now: Timestamp) {
        self.now.send_replace(now);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.now.borrow()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        let mut now = self.now.subscribe();
        let until = now.borrow().plus(duration);
        Box::pin(async move {
            if now.wait_for(|now| *now >= until).await.is_err() {
                // The clock is gone, and with it everybody who could move it.
                std::future::pending::<()>().await;
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_sleeper_wakes_when_the_clock_has_gone_on() {
        let clock = ManualClock::new(Timestamp::from_secs(100));
        let sleep = clock.sleep(Duration::from_secs(60));
        clock.advance(Duration::from_secs(59));
        let mut sleep = std::pin::pin!(sleep);
        tokio::select! {
            biased;
            () = &mut sleep => panic!("one second too early"),
            () = std::future::ready(()) => {}
        }
        clock.advance(Duration::from_secs(1));
        sleep.await;
        assert_eq!(clock.now(), Timestamp::from_secs(160));
    }
}
