#![doc = include_str!("../../README.md")]

// Generated code names this crate by its absolute path, also in the crate's own tests and examples.
extern crate self as warp_runtime;

pub mod contract;
pub mod handler;
mod handlers;
pub mod job_context;
pub mod job_error;
pub mod job_parameters;
pub mod key_secret;
pub mod publisher;
pub mod registry;
pub mod requests;
pub mod retry;
pub mod worker;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

pub use warp_macros::{Job, mutex, rate_limit, semaphore};
pub use warp_policy::ids::{ClaimId, JobId, WorkerId};
pub use warp_policy::{
    ConcurrencySpec, Key, Mode, PolicyError, RateLimitSpec, Stamp, Style, Timestamp, Window,
};
pub use warp_storage as storage;
#[cfg(feature = "postgres")]
pub use warp_storage::Postgres;
pub use warp_storage::model::Cancelled;
#[cfg(feature = "sqlite")]
pub use warp_storage::sqlite::{Sqlite, SqliteError, SqliteOptions, Synchronous};
pub use warp_storage::{Memory, Storage};

pub use crate::contract::{Job, Request, StreamRequest};
pub use crate::handler::{JobHandler, RequestHandler, StreamHandler};
pub use crate::job_context::JobContext;
pub use crate::job_error::{JobError, JobResult};
pub use crate::job_parameters::JobParameters;
pub use crate::key_secret::{KeySecret, KeySecretTooShort};
pub use crate::publisher::{EnqueueError, Publisher};
pub use crate::registry::registry;
pub use crate::requests::{NoHandler, Requests};
pub use crate::retry::Retry;
pub use crate::worker::{Worker, WorkerError};

/// What a program that declares, enqueues and handles jobs needs.
pub mod prelude {
    pub use serde::{Deserialize, Serialize};

    #[cfg(feature = "postgres")]
    pub use crate::Postgres;
    #[cfg(feature = "sqlite")]
    pub use crate::Sqlite;
    pub use crate::{
        ConcurrencySpec, Job, JobContext, JobError, JobHandler, JobParameters, JobResult, Key,
        KeySecret, Memory, Mode, Publisher, RateLimitSpec, Request, RequestHandler, Requests,
        Retry, Storage, StreamHandler, StreamRequest, Style, Window, Worker, mutex, rate_limit,
        semaphore,
    };
}
