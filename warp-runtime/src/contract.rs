//! Contracts: the types that are enqueued or sent (R1).

use serde::Serialize;
use serde::de::DeserializeOwned;
use warp_policy::declaration::Declared;

/// A job: a piece of work that is enqueued as a value and run by one handler (R1).
///
/// `#[derive(Job)]` implements it, beside serde's `Serialize` and `Deserialize`. Policies go on the struct as attributes, in any order.
///
/// ```
/// use warp_runtime::prelude::*;
///
/// #[rate_limit("sendgrid", count = 10, per_seconds = 60, mode = "wait")]
/// #[derive(Debug, Serialize, Deserialize, Job)]
/// struct SendEmail {
///     to: String,
/// }
///
/// assert_eq!(SendEmail::NAME, "SendEmail");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a job",
    label = "not a job",
    note = "add `#[derive(Serialize, Deserialize, Job)]` to `{Self}`"
)]
pub trait Job: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The name that is stored with each job: the struct's name, or `#[job(name = "…")]` (R7).
    const NAME: &'static str;

    /// Older names whose stored jobs this type still runs: `#[job(alias = "…")]` (R7).
    const ALIASES: &'static [&'static str] = &[];

    /// The policies on the struct, as the type carries them (R5).
    #[doc(hidden)]
    const __WARP_DECLARED: Declared = Declared::NONE;
}

/// A request: sent within the process and answered by one handler (R1). It is never stored, and follows no policy (R11, R26): its caller waits
/// for the answer.
///
/// ```
/// use warp_runtime::prelude::*;
///
/// struct GetPrice {
///     article: u64,
/// }
///
/// impl Request for GetPrice {
///     type Response = Option<u64>;
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a request",
    label = "not a request",
    note = "write `impl Request for {Self} {{ type Response = …; }}`"
)]
pub trait Request: Send + 'static {
    /// The answer. One that can fail is a `Result`.
    type Response: Send + 'static;
}

/// A request that is answered by a stream of items, within the process (R1). Like a [`Request`] it follows no policy (R11, R26).
///
/// ```
/// use warp_runtime::prelude::*;
///
/// struct WatchPrice {
///     article: u64,
/// }
///
/// impl StreamRequest for WatchPrice {
///     type Item = u64;
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a stream request",
    label = "not a stream request",
    note = "write `impl StreamRequest for {Self} {{ type Item = …; }}`"
)]
pub trait StreamRequest: Send + 'static {
    /// One piece of the answer.
    type Item: Send + 'static;
}
