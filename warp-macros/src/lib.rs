//! The attributes of Warp. Use them through `warp_runtime`, which re-exports them.
//!
//! A macro here reads an attribute, holds it to the rules of `warp-policy`, and leaves a declaration behind: in the type that carries
//! the attribute, and in the registry of the program. `R12` and the like name the rules of `docs/semantics.md`.
//!
//! | module | what it does |
//! |---|---|
//! | `expand` | the pipeline: item → arguments → rules → tokens |
//! | `item` | the head of the item; its body stays raw tokens |
//! | `args` | `"key", name = value, …`, and "did you mean" |
//! | `policy` | the attributes as typed values |
//! | `rules` | what needs more than one attribute: placement, siblings, fields |
//! | `emit` | generated code |
//! | `job` | `#[derive(Job)]` |
//! | `diag` | errors, and the text of every one |

mod args;
mod diag;
mod emit;
mod expand;
mod item;
mod job;
mod policy;
mod rules;

use proc_macro::TokenStream;

use crate::expand::expand;
use crate::policy::Kind;

/// Runs at most one job of a key at any moment, over all workers of the store.
///
/// | argument | value | default | limits |
/// |---|---|---|---|
/// | the key | string literal | required | 1 to 200 bytes; see [Keys](#keys) |
/// | `mode` | `"skip"`, `"wait"` | `"skip"` | |
/// | `crate` | absolute path | `::warp_runtime` | |
///
/// With `mode = "skip"` a job that finds the key taken ends as `Deleted`; with `"wait"` it waits in line. Skipping decides a job's first
/// start only: a retry waits.
///
/// ```
/// use warp_runtime::prelude::*;
///
/// #[mutex("nightly-report")]
/// #[derive(Serialize, Deserialize, Job)]
/// struct NightlyReport;
///
/// #[mutex("ledger", mode = "wait")]
/// #[derive(Serialize, Deserialize, Job)]
/// struct CloseLedger;
/// # fn main() {}
/// ```
///
/// # Keys
///
/// A key is fixed text, or a template with fields of the job: `{customer_id}`, nested `{customer.id}`, or `{0}` on a tuple struct. A
/// field is rendered with `Display`; the compiler checks that it exists. `{{` and `}}` are braces. An enum has no fields to name, hence
/// fixed keys only; so has a handler of any job, `impl<J: Job> JobHandler<J>`.
///
/// Different values never give one key: where a template has two or more fields, a sign stands between them, and the first one there, `:` and
/// `%` are escaped inside their values. `"{tenant}/{name}"` renders `a` and `b/c` as `a/b%2Fc`. The sign is no letter, digit or `%`.
///
/// A key appears in logs and dashboards: name things by number, not persons by address, or write `{email|hash}`. That renders a hash of the
/// value, keyed with the secret that the worker was given with `.key_secret(…)`, and is the same in every process that has it.
///
/// ```
/// # use warp_runtime::prelude::*;
/// #[derive(Serialize, Deserialize)]
/// struct Customer {
///     id: u64,
/// }
///
/// #[mutex("payment:{customer.id}", mode = "wait")]
/// #[derive(Serialize, Deserialize, Job)]
/// struct Payment {
///     customer: Customer,
/// }
///
/// #[mutex("mail:{tenant}:{email|hash}", mode = "wait")]
/// #[derive(Serialize, Deserialize, Job)]
/// struct SendEmail {
///     tenant: u32,
///     email: String,
/// }
/// # fn main() {}
/// ```
///
/// # Placement and precedence
///
/// On a job's struct or enum (an enum with a fixed key), or on its `impl JobHandler` block; the order of attributes does not matter.
/// On a handler the fields of a template are those of the handler's job. A handler may be generic, a job may not.
///
/// `#[mutex]` and [`#[semaphore]`](macro@semaphore) are one family, and one item carries one of them. Explicit parameters at enqueue
/// replace the handler's policy, and the handler's replaces the job's; nothing is merged. What a job follows is decided when it is first
/// judged, and written on its row.
///
/// ```
/// # use warp_runtime::prelude::*;
/// # #[derive(Serialize, Deserialize, Job)]
/// # struct Payment {
/// #     account: u64,
/// # }
/// struct Bank<C> {
///     connection: C,
/// }
///
/// #[mutex("account:{account}", mode = "wait")]
/// impl<C: Send + Sync + 'static> JobHandler<Payment> for Bank<C> {
///     async fn handle(&self, job: Payment, _ctx: &JobContext) -> JobResult {
///         Ok(())
///     }
/// }
/// # fn main() {}
/// ```
///
/// Anywhere else it does not compile: on a function, on a module, on the handler of a request, which is answered in its caller's process.
///
/// ```compile_fail
/// # use warp_runtime::prelude::*;
/// #[mutex("payment")]
/// fn pay() {}
/// # fn main() {}
/// ```
///
/// ```compile_fail
/// # use warp_runtime::prelude::*;
/// # struct GetBalance;
/// # impl Request for GetBalance { type Response = u64; }
/// # struct Bank;
/// #[mutex("account")]
/// impl RequestHandler<GetBalance> for Bank {
///     async fn handle(&self, _request: GetBalance) -> u64 {
///         0
///     }
/// }
/// # fn main() {}
/// ```
///
/// # Renamed or re-exported runtime
///
/// Generated code names the runtime as `::warp_runtime`. Where it has another name, say so with an absolute path, also in
/// `#[job(crate = …)]`:
///
/// ```
/// mod facade {
///     pub use warp_runtime as jobs;
/// }
///
/// use facade::jobs::prelude::*;
///
/// #[mutex("payment", crate = crate::facade::jobs)]
/// #[derive(Serialize, Deserialize, Job)]
/// #[job(crate = crate::facade::jobs)]
/// struct Payment;
/// # fn main() {}
/// ```
///
/// # Across processes
///
/// The slot is a row of the store, bound to the job that holds it, and is counted there: the limit holds over all workers of one
/// store. It is held exactly while the handler runs, and freed on success, failure, panic and cancellation. When a worker dies, its
/// slots come back after one lease time.
#[proc_macro_attribute]
pub fn mutex(args: TokenStream, item: TokenStream) -> TokenStream {
    expand(Kind::Mutex, args.into(), item.into()).into()
}

/// Runs at most `limit` jobs of a key at any moment, over all workers of the store.
///
/// | argument | value | default | limits |
/// |---|---|---|---|
/// | the key | string literal | required | 1 to 200 bytes; see [`#[mutex]`](macro@mutex#keys) |
/// | `limit` | integer, or a `u32` constant | required | 1 to 4,294,967,295 |
/// | `mode` | `"skip"`, `"wait"` | `"wait"` | |
/// | `crate` | absolute path | `::warp_runtime` | |
///
/// With `mode = "wait"` a job that finds no slot waits in line; with `"skip"` it ends as `Deleted`.
///
/// ```
/// use warp_runtime::prelude::*;
///
/// #[semaphore("payment-api", limit = 5)]
/// #[derive(Serialize, Deserialize, Job)]
/// struct Charge;
///
/// #[semaphore("thumbnails", limit = 2, mode = "skip")]
/// #[derive(Serialize, Deserialize, Job)]
/// struct RefreshThumbnails;
/// # fn main() {}
/// ```
///
/// `limit` may be a constant expression of type `u32`; it is held to the same limits while the program compiles. `Self` is the job, or the
/// handler. The parameters of an `impl` block mean nothing there, since one policy stands for all its types: on a generic handler that rules
/// out `Self` too.
///
/// ```
/// # use warp_runtime::prelude::*;
/// const SLOTS: u32 = 8;
///
/// #[semaphore("payment-api", limit = SLOTS / 2)]
/// #[derive(Serialize, Deserialize, Job)]
/// struct Charge;
///
/// #[semaphore("refund-api", limit = Self::SLOTS)]
/// #[derive(Serialize, Deserialize, Job)]
/// struct Refund;
///
/// impl Refund {
///     const SLOTS: u32 = 3;
/// }
/// # fn main() {}
/// ```
///
/// ```compile_fail
/// # use warp_runtime::prelude::*;
/// const SLOTS: u32 = 0;
///
/// #[semaphore("payment-api", limit = SLOTS)]
/// #[derive(Serialize, Deserialize, Job)]
/// struct Charge;
/// # fn main() {}
/// ```
///
/// ```compile_fail
/// # use warp_runtime::prelude::*;
/// # #[derive(Serialize, Deserialize, Job)]
/// # struct Charge;
/// struct Bank<const N: u32>;
///
/// #[semaphore("payment-api", limit = N)]
/// impl<const N: u32> JobHandler<Charge> for Bank<N> {
///     async fn handle(&self, _job: Charge, _ctx: &JobContext) -> JobResult {
///         Ok(())
///     }
/// }
/// # fn main() {}
/// ```
///
/// # Placement, precedence, keys
///
/// As for [`#[mutex]`](macro@mutex#placement-and-precedence), which is a semaphore with one slot. Jobs that declare different limits
/// for one key share its usage, and each is judged by its own limit: where a smaller limit meets more running jobs, nobody is stopped, and
/// nobody starts until usage is below it.
///
/// # Across processes
///
/// Slots are rows of the store, counted there: the limit holds over all workers of one store, whatever their number. A slot is held exactly
/// while the handler runs, not during the delay before a retry. A worker that dies gives its slots back after one lease time, and with them
/// the jobs.
#[proc_macro_attribute]
pub fn semaphore(args: TokenStream, item: TokenStream) -> TokenStream {
    expand(Kind::Semaphore, args.into(), item.into()).into()
}

/// Starts at most `count` jobs of a key per window, over all workers of the store.
///
/// | argument | value | default | limits |
/// |---|---|---|---|
/// | the key | string literal | required | 1 to 200 bytes; see [`#[mutex]`](macro@mutex#keys) |
/// | `count` | integer, or a `u32` constant | required | 1 to 4,294,967,295; with `style = "sliding"` to 10,000 |
/// | `per_seconds` | integer, or a `u64` constant | this or `per` | 1 to 604,800 (7 days) |
/// | `per` | string literal, as in `"1h 30m"` | this or `per_seconds` | 1 ms to 7 days, in whole milliseconds |
/// | `mode` | `"skip"`, `"wait"` | `"skip"` | |
/// | `style` | `"fixed"`, `"sliding"`, `"token_bucket"` | `"fixed"` | |
/// | `crate` | absolute path | `::warp_runtime` | |
///
/// With `mode = "skip"` a job that finds no token ends as `Deleted`; with `"wait"` it waits in line and starts at the instant at which
/// the window allows. Every start spends a token, a retry too; none is given back.
///
/// ```
/// use warp_runtime::prelude::*;
///
/// #[rate_limit("sendgrid", count = 10, per_seconds = 60, mode = "wait")]
/// #[derive(Serialize, Deserialize, Job)]
/// struct SendEmail;
///
/// #[rate_limit("digest", count = 1, per = "1h 30m")]
/// #[derive(Serialize, Deserialize, Job)]
/// struct SendDigest;
/// # fn main() {}
/// ```
///
/// # Styles
///
/// - `"fixed"`: windows are aligned to the Unix epoch, with at most `count` starts in each; up to twice `count` across a boundary.
/// - `"sliding"`: at most `count` starts in any interval as long as the window. Exact, and therefore kept instant by instant.
/// - `"token_bucket"`: `count` starts at once, refilled continuously at `count` per window.
///
/// ```
/// # use warp_runtime::prelude::*;
/// const MAX_RATE: u32 = 100;
/// const HOUR: u64 = 3_600;
///
/// #[rate_limit("api:{tenant}", count = MAX_RATE, per = "1m", style = "sliding", mode = "wait")]
/// #[derive(Serialize, Deserialize, Job)]
/// struct Sync {
///     tenant: u64,
/// }
///
/// #[rate_limit("backup", count = 1, per_seconds = 6 * HOUR, style = "token_bucket", mode = "skip")]
/// #[derive(Serialize, Deserialize, Job)]
/// struct Backup;
/// # fn main() {}
/// ```
///
/// `"sliding"` keeps every instant, hence its cap:
///
/// ```compile_fail
/// # use warp_runtime::prelude::*;
/// #[rate_limit("api", count = 10_001, per = "1m", style = "sliding")]
/// #[derive(Serialize, Deserialize, Job)]
/// struct Sync;
/// # fn main() {}
/// ```
///
/// # Several rate limits
///
/// Up to eight stand on one item, with different keys; a job starts when all of them admit it.
///
/// ```
/// # use warp_runtime::prelude::*;
/// #[rate_limit("sms-burst", count = 5, per = "1s", mode = "wait")]
/// #[rate_limit("sms-day", count = 10_000, per = "1day", mode = "wait")]
/// #[derive(Serialize, Deserialize, Job)]
/// struct SendSms;
/// # fn main() {}
/// ```
///
/// # Placement and precedence
///
/// As for [`#[mutex]`](macro@mutex#placement-and-precedence), as a family of its own: all rate limits of a handler replace all those of
/// its job.
///
/// # Across processes
///
/// Tokens are spent in the transaction that starts the job, by the clock of the store: the limit holds over all workers of one store,
/// whatever their own clocks say. Nothing is locked while the handler runs. A worker that dies gives no token back.
#[proc_macro_attribute]
pub fn rate_limit(args: TokenStream, item: TokenStream) -> TokenStream {
    expand(Kind::RateLimit, args.into(), item.into()).into()
}

/// Makes a struct or an enum a job: a piece of work that is enqueued as a value.
///
/// It stands beside serde's `Serialize` and `Deserialize`, by which jobs are stored. The type may not be generic: a job is stored under
/// one name and found by one concrete type.
///
/// | argument of `#[job(…)]` | value | default | limits |
/// |---|---|---|---|
/// | `name` | string literal | the type's name | 1 to 200 bytes, no control characters |
/// | `alias`, repeatable | string literal | none | like `name` |
/// | `crate` | absolute path | `::warp_runtime` | |
///
/// `name` is stored with every job. `alias` keeps jobs runnable that were stored under an older name.
///
/// ```
/// use warp_runtime::prelude::*;
///
/// #[derive(Serialize, Deserialize, Job)]
/// struct SendEmail {
///     to: String,
/// }
///
/// #[derive(Serialize, Deserialize, Job)]
/// #[job(name = "invoice.send", alias = "SendInvoice")]
/// struct SendInvoice {
///     number: u64,
/// }
///
/// assert_eq!(SendEmail::NAME, "SendEmail");
/// assert_eq!(SendInvoice::NAME, "invoice.send");
/// assert_eq!(SendInvoice::ALIASES, ["SendInvoice"]);
/// ```
#[proc_macro_derive(Job, attributes(job))]
pub fn job(item: TokenStream) -> TokenStream {
    job::expand(item.into()).into()
}
