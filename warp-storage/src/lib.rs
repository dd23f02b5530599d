//! Where jobs, limiters and workers are kept.
//!
//! A [`Store`] knows rows and transactions; it never decides. Inside its dispatch transaction it hands what it has read under its locks
//! to [`warp_policy::admission::plan`] and writes down the answer, so that every backend behaves alike. What a store must do is written
//! once, as the laws in [`conformance`].
//!
//! [`Memory`] is the full reference model: it implements everything, and the other backends are compared with it.

pub mod clock;
pub mod conformance;
pub mod error;
pub mod memory;
pub mod model;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod sql;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod stamp;
pub mod store;

pub use clock::{Clock, ManualClock, SystemClock, TokioClock};
pub use error::StoreError;
pub use memory::Memory;
#[cfg(feature = "postgres")]
pub use postgres::Postgres;
#[cfg(feature = "sqlite")]
pub use sqlite::Sqlite;
pub use store::{CallersTransaction, Changes, Storage, Store};
