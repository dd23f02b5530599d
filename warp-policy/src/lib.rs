//! The rules of Warp, and nothing else: no async, no I/O, no clock.
//!
//! Every decision is a function in this crate. The macros call its checks on literals while the user's program compiles, the runtime
//! calls the same checks on values, and each storage backend hands its locked rows to [`admission::plan`] and writes down the answer. A
//! cap, a message and a rule therefore exist once, and every backend behaves alike.
//!
//! `R12` and the like name the rules of `docs/semantics.md`.
//!
//! | module | what it decides |
//! |---|---|
//! | [`concurrency`], [`rate_limit`] | what a policy may say: specs, caps, errors |
//! | [`key`] | fixed keys, templates, rendering |
//! | [`declaration`] | what an attribute left behind in the program |
//! | [`precedence`] | which rung wins, and the stamp |
//! | [`limiter`] | state × now × spec → how many may start, and when the next one may |
//! | [`admission`] | who starts, who waits in which line, who is skipped |

pub mod admission;
pub mod concurrency;
pub mod declaration;
pub mod error;
pub mod ids;
pub mod key;
pub mod limiter;
pub mod mode;
pub mod precedence;
pub mod rate_limit;
pub mod time;

pub use concurrency::ConcurrencySpec;
pub use error::PolicyError;
pub use key::Key;
pub use mode::Mode;
pub use precedence::{Rung, Stamp};
pub use rate_limit::{RateLimitSpec, Style, Window};
pub use time::Timestamp;
