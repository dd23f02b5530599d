//! Handlers: the types that run contracts (R2).

use futures_util::Stream;
use warp_policy::declaration::{ConcurrencyDeclaration, Declared, RateLimitDeclaration};

use crate::contract::{Job, Request, StreamRequest};
use crate::job_context::JobContext;
use crate::job_error::JobResult;

/// Runs jobs of type `J` (R2). Write `handle` as a plain `async fn`.
///
/// Policies may go on the `impl` block; for their family they replace the contract's (R20). The handler type may be generic, and may be
/// the job type itself.
///
/// ```
/// use warp_runtime::prelude::*;
///
/// #[derive(Debug, Serialize, Deserialize, Job)]
/// struct SendEmail {
///     to: String,
/// }
///
/// struct Mailer;
///
/// #[semaphore("smtp", limit = 3)]
/// impl JobHandler<SendEmail> for Mailer {
///     async fn handle(&self, job: SendEmail, ctx: &JobContext) -> JobResult {
///         println!("attempt {} to {}", ctx.attempt(), job.to);
///         Ok(())
///     }
/// }
/// ```
///
/// # Errors
/// An `Err` fails the attempt. It is retried with back-off while attempts are left, else the job ends as `Failed`.
///
/// # Panics
/// A panic fails the attempt like an `Err`, and only that; the worker goes on.
///
/// # Cancel safety
/// At a shutdown whose grace time has run out, and when the worker is dropped, the future is dropped at an await point; the job goes
/// back to the queue and will be run again from the start. A job may therefore be run more than once: make its effects idempotent, or
/// guard them with [`JobContext::fencing_token`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle the job `{J}`",
    label = "no `JobHandler<{J}>` here",
    note = "write `impl JobHandler<{J}> for {Self} {{ async fn handle(&self, job: {J}, ctx: &JobContext) -> JobResult {{ … }} }}`"
)]
pub trait JobHandler<J: Job>: Send + Sync + 'static {
    /// Runs one attempt of `job`.
    fn handle(&self, job: J, ctx: &JobContext) -> impl Future<Output = JobResult> + Send;

    // What follows is set by the policy attributes. Each family has its own constant, so that each attribute expands alone; a constant
    // that a foreign trait lacks is quoted by rustc (E0438), hence names that read as the message (R10).

    #[doc(hidden)]
    const __WARP_CONCURRENCY_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL: Option<
        &'static ConcurrencyDeclaration,
    > = None;
    #[doc(hidden)]
    const __WARP_RATE_LIMIT_0_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL: Option<
        &'static RateLimitDeclaration,
    > = None;
    #[doc(hidden)]
    const __WARP_RATE_LIMIT_1_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL: Option<
        &'static RateLimitDeclaration,
    > = None;
    #[doc(hidden)]
    const __WARP_RATE_LIMIT_2_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL: Option<
        &'static RateLimitDeclaration,
    > = None;
    #[doc(hidden)]
    const __WARP_RATE_LIMIT_3_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL: Option<
        &'static RateLimitDeclaration,
    > = None;
    #[doc(hidden)]
    const __WARP_RATE_LIMIT_4_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL: Option<
        &'static RateLimitDeclaration,
    > = None;
    #[doc(hidden)]
    const __WARP_RATE_LIMIT_5_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL: Option<
        &'static RateLimitDeclaration,
    > = None;
    #[doc(hidden)]
    const __WARP_RATE_LIMIT_6_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL: Option<
        &'static RateLimitDeclaration,
    > = None;
    #[doc(hidden)]
    const __WARP_RATE_LIMIT_7_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL: Option<
        &'static RateLimitDeclaration,
    > = None;
}

/// Answers requests of type `R` (R2). Write `handle` as a plain `async fn`; [`Requests`](crate::Requests) calls it.
///
/// No policy goes on its `impl` block: nothing could hold a request back, whose caller waits for the answer (R11).
///
/// ```
/// use warp_runtime::prelude::*;
///
/// struct GetPrice {
///     article: u64,
/// }
///
/// impl Request for GetPrice {
///     type Response = u64;
/// }
///
/// struct Prices;
///
/// impl RequestHandler<GetPrice> for Prices {
///     async fn handle(&self, request: GetPrice) -> u64 {
///         100 * request.article
///     }
/// }
/// ```
///
/// ```compile_fail
/// # use warp_runtime::prelude::*;
/// # struct GetPrice;
/// # impl Request for GetPrice { type Response = u64; }
/// # struct Prices;
/// #[rate_limit("prices", count = 10, per = "1s")]
/// impl RequestHandler<GetPrice> for Prices {
///     async fn handle(&self, _request: GetPrice) -> u64 {
///         100
///     }
/// }
/// # fn main() {}
/// ```
///
/// # Cancel safety
/// The future is dropped where the caller drops its own.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not answer the request `{R}`",
    label = "no `RequestHandler<{R}>` here",
    note = "write `impl RequestHandler<{R}> for {Self} {{ async fn handle(&self, request: {R}) -> … {{ … }} }}`"
)]
pub trait RequestHandler<R: Request>: Send + Sync + 'static {
    /// Answers `request`.
    fn handle(&self, request: R) -> impl Future<Output = R::Response> + Send;
}

/// Answers stream requests of type `S` (R2); [`Requests`](crate::Requests) calls it. No policy goes on its `impl` block (R11).
///
/// ```
/// use futures_util::{Stream, stream};
/// use warp_runtime::prelude::*;
///
/// struct CountDown {
///     from: u32,
/// }
///
/// impl StreamRequest for CountDown {
///     type Item = u32;
/// }
///
/// struct Counter;
///
/// impl StreamHandler<CountDown> for Counter {
///     fn handle(&self, request: CountDown) -> impl Stream<Item = u32> + Send {
///         stream::iter((0..request.from).rev())
///     }
/// }
/// ```
///
/// # Cancel safety
/// The stream is dropped where the caller drops its own.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not answer the stream request `{S}`",
    label = "no `StreamHandler<{S}>` here",
    note = "write `impl StreamHandler<{S}> for {Self} {{ fn handle(&self, request: {S}) -> impl Stream<Item = …> + Send {{ … }} }}`"
)]
pub trait StreamHandler<S: StreamRequest>: Send + Sync + 'static {
    /// Answers `request`.
    fn handle(&self, request: S) -> impl Stream<Item = S::Item> + Send;
}

/// The policies on the `impl` block, as the type carries them (R5).
pub(crate) const fn declared<J: Job, H: JobHandler<J>>() -> Declared {
    Declared {
        concurrency: H::__WARP_CONCURRENCY_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL,
        rate_limits: [
            H::__WARP_RATE_LIMIT_0_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL,
            H::__WARP_RATE_LIMIT_1_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL,
            H::__WARP_RATE_LIMIT_2_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL,
            H::__WARP_RATE_LIMIT_3_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL,
            H::__WARP_RATE_LIMIT_4_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL,
            H::__WARP_RATE_LIMIT_5_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL,
            H::__WARP_RATE_LIMIT_6_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL,
            H::__WARP_RATE_LIMIT_7_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL,
        ],
    }
}
