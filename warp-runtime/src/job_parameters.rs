//! What a publisher can say about one job.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use warp_policy::precedence::ExplicitPolicies;
use warp_policy::{ConcurrencySpec, Key, PolicyError, RateLimitSpec, Timestamp, Window};
use warp_storage::model::Ready;

/// The queue of a job that names none, and of a worker that names none.
pub const DEFAULT_QUEUE: &str = "default";

/// What a publisher can say about one job. Policies given here beat the handler's and the contract's for their family (R20).
///
/// ```
/// use std::time::Duration;
/// use warp_runtime::prelude::*;
///
/// let parameters = JobParameters::new()
///     .with_mutex("payment:123")
///     .with_rate_limit("crm", 100, Duration::from_secs(60))
///     .with_priority(5)
///     .with_delay(Duration::from_secs(30));
/// ```
///
/// An invalid policy is remembered and returned by the enqueueing call, which then enqueues nothing (R24).
#[derive(Clone, Debug)]
pub struct JobParameters {
    pub(crate) queue: Arc<str>,
    pub(crate) priority: i32,
    pub(crate) ready: Ready,
    explicit: ExplicitPolicies,
    error: Option<PolicyError>,
}

impl Default for JobParameters {
    fn default() -> Self {
        Self::new()
    }
}

impl JobParameters {
    /// The queue `default`, priority 0, ready at once, no explicit policy.
    pub fn new() -> Self {
        Self {
            queue: DEFAULT_QUEUE.into(),
            priority: 0,
            ready: Ready::Now,
            explicit: ExplicitPolicies::default(),
            error: None,
        }
    }

    /// Sends the job through another queue.
    #[must_use]
    pub fn with_queue(self, queue: impl Into<Arc<str>>) -> Self {
        Self {
            queue: queue.into(),
            ..self
        }
    }

    /// Jobs of a higher priority go first; within one, the older place does (R43). Default 0.
    #[must_use]
    pub fn with_priority(self, priority: i32) -> Self {
        Self { priority, ..self }
    }

    /// Makes the job ready after `delay`, on the store's clock.
    #[must_use]
    pub fn with_delay(self, delay: Duration) -> Self {
        Self {
            ready: Ready::In(delay),
            ..self
        }
    }

    /// Makes the job ready at `instant` of the store's clock; an instant in the past means now.
    #[must_use]
    pub fn with_start_at(self, instant: SystemTime) -> Self {
        let at = match instant.duration_since(UNIX_EPOCH) {
            Ok(since) => Timestamp::EPOCH.plus(since),
            Err(before) => Timestamp::EPOCH.minus(before.duration()),
        };
        Self {
            ready: Ready::At(at),
            ..self
        }
    }

    /// A mutex of this key, taken literally (R34), in skip mode (R51).
    #[must_use]
    pub fn with_mutex(self, key: impl AsRef<str>) -> Self {
        let spec = Key::new(key).map(ConcurrencySpec::mutex);
        self.concurrency(spec)
    }

    /// A semaphore of this key, taken literally (R34), in wait mode (R51). `limit` is at least 1.
    #[must_use]
    pub fn with_semaphore(self, key: impl AsRef<str>, limit: u32) -> Self {
        let spec = Key::new(key).and_then(|key| ConcurrencySpec::semaphore(key, limit));
        self.concurrency(spec)
    }

    /// A mutex or semaphore in a mode of choice.
    #[must_use]
    pub fn with_concurrency(self, spec: ConcurrencySpec) -> Self {
        self.concurrency(Ok(spec))
    }

    /// At most `count` starts per `window` for this key, taken literally (R34), in skip mode and fixed style (R60). Several stack, with
    /// different keys (R15). `count` is at least 1, `window` a whole number of milliseconds up to 7 days (R16).
    #[must_use]
    pub fn with_rate_limit(self, key: impl AsRef<str>, count: u32, window: Duration) -> Self {
        let spec = Key::new(key)
            .and_then(|key| RateLimitSpec::new(key, count, Window::from_duration(window)?));
        self.rate_limit(spec)
    }

    /// A rate limit in a mode and style of choice.
    #[must_use]
    pub fn with_rate_limit_spec(self, spec: RateLimitSpec) -> Self {
        self.rate_limit(Ok(spec))
    }

    /// The policies, where all of them are valid.
    pub(crate) fn explicit(&self) -> Result<ExplicitPolicies, PolicyError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        self.explicit.check()?;
        Ok(self.explicit.clone())
    }

    fn concurrency(mut self, spec: Result<ConcurrencySpec, PolicyError>) -> Self {
        let given = self.explicit.concurrency.take();
        let spec = spec.and_then(|spec| match given {
            None => Ok(spec),
            Some(given) => Err(PolicyError::ConcurrencyTwice {
                first: given.key().to_string(),
                second: spec.key().to_string(),
            }),
        });
        match spec {
            Ok(spec) => self.explicit.concurrency = Some(spec),
            Err(error) => self.error = self.error.or(Some(error)),
        }
        self
    }

    fn rate_limit(mut self, spec: Result<RateLimitSpec, PolicyError>) -> Self {
        match spec {
            Ok(spec) => self.explicit.rate_limits.push(spec),
            Err(error) => self.error = self.error.or(Some(error)),
        }
        self
    }
}
