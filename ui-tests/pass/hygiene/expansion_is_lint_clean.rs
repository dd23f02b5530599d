//! S18, S20: the expansion is silent under lints that a strict user sets. Clippy sees this file through `tests/lint_clean.rs`.
#![deny(
    warnings,
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    unused_qualifications,
    unused_results,
    let_underscore_drop,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    unnameable_types,
    variant_size_differences,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    clippy::absolute_paths,
    clippy::exhaustive_structs,
    clippy::std_instead_of_core
)]
#![forbid(unsafe_code, unused_imports, dead_code)]

use warp_runtime::prelude::*;

/// The most starts per window.
pub const MAX_RATE: u32 = 7;
/// The window, in seconds.
pub const WINDOW: u64 = 60;

/// Everything there is, with literals and constants.
#[rate_limit("1:{id}", count = MAX_RATE, per_seconds = WINDOW, style = "sliding")]
#[rate_limit("2", count = 1, per = "1h 30m", mode = "wait", style = "token_bucket")]
#[rate_limit("3", count = 1, per_seconds = 1)]
#[rate_limit("4", count = 1, per_seconds = 1)]
#[rate_limit("5", count = 1, per_seconds = 1)]
#[rate_limit("6", count = 1, per_seconds = 1)]
#[rate_limit("7", count = 1, per_seconds = 1)]
#[rate_limit("8", count = 1, per_seconds = 1)]
#[semaphore("full:{customer.name}:{id}", limit = MAX_RATE, mode = "skip")]
#[derive(Debug, Serialize, Deserialize, Job)]
#[job(name = "full", alias = "older")]
#[non_exhaustive]
pub struct Full {
    /// A field.
    pub id: u64,
    /// A field with fields.
    pub customer: Customer,
}

/// A part of a job.
#[derive(Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Customer {
    /// Its name.
    pub name: String,
}

/// Nothing.
#[derive(Debug, Serialize, Deserialize, Job)]
#[non_exhaustive]
pub struct Free;

/// Private, and used by nothing but its handler.
#[mutex("private")]
#[derive(Debug, Serialize, Deserialize, Job)]
struct Private;

/// A handler.
#[derive(Debug)]
#[non_exhaustive]
pub struct Handler<S>(pub S);

#[semaphore("handler:{id}", limit = MAX_RATE)]
#[rate_limit("handler", count = MAX_RATE, per_seconds = WINDOW, style = "sliding")]
#[rate_limit("handler:{id}", count = 1, per = "1ms")]
impl<S: Send + Sync + 'static> JobHandler<Full> for Handler<S> {
    async fn handle(&self, _job: Full, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

impl Handler<()> {
    const SLOTS: u32 = 2;
    const WINDOW: u64 = 2;
}

#[semaphore("private-handler", limit = Self::SLOTS)]
#[rate_limit("private-handler", count = Self::SLOTS, per_seconds = Self::WINDOW)]
impl JobHandler<Private> for Handler<()> {
    async fn handle(&self, _job: Private, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

/// Uses all of it.
///
/// # Panics
/// Never.
pub fn main() {
    const fn is_handler<J: Job, H: JobHandler<J>>(_handler: &H) {}
    is_handler::<Full, _>(&Handler(1_u8));
    is_handler::<Private, _>(&Handler(()));
    assert_eq!(format!("{Private:?}"), "Private");
}
