//! Why a policy is not valid.

use thiserror::Error;

use crate::key::MAX_KEY_BYTES;
use crate::rate_limit::{MAX_SLIDING_COUNT, MAX_WINDOW_SECONDS};

/// Why a policy is not valid (R16, R17, R19).
///
/// The macros print these sentences as compile errors, the runtime returns them as values: the text of a rule exists once. [`help`]
/// says what to write instead.
///
/// [`help`]: PolicyError::help
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// A key without a visible character.
    #[error("the key is empty")]
    KeyEmpty,
    /// A key, or the fixed part of a template, over [`MAX_KEY_BYTES`].
    #[error("the key is {bytes} bytes long; at most {MAX_KEY_BYTES} are allowed")]
    KeyTooLong {
        /// Its length.
        bytes: usize,
    },
    /// A control character in a key.
    #[error("the key contains the control character {character:?}")]
    KeyControlCharacter {
        /// The first one.
        character: char,
    },
    /// A fixed key that looks like an e-mail address.
    #[error("the key looks like an e-mail address; keys appear in logs and dashboards")]
    KeyLooksLikeEmail,
    /// A `{` without its `}`, or the reverse.
    #[error("the key has an unbalanced `{brace}`")]
    KeyUnbalancedBrace {
        /// The brace without a partner.
        brace: char,
    },
    /// `{}` or something between braces that is no field path.
    #[error("`{{{placeholder}}}` is not a field")]
    KeyInvalidField {
        /// What stands between the braces.
        placeholder: String,
    },
    /// A field whose `Display` returned an error while a key was rendered.
    #[error("a field of the key `{template}` failed to format itself")]
    KeyFieldFailed {
        /// The template.
        template: String,
    },
    /// `{field|…}` with something else than `hash`.
    #[error("`|{filter}` is not known")]
    KeyUnknownFilter {
        /// What stands behind the `|`.
        filter: String,
    },
    /// Two fields of a template without a sign between them.
    #[error("nothing tells where `{{{first}}}` ends and `{{{second}}}` begins")]
    KeyFieldsTouch {
        /// The path of the first field.
        first: String,
        /// The path of the second one.
        second: String,
    },
    /// A `{field|hash}` that was to be rendered without a secret.
    #[error("the key `{template}` hashes a field, and there is no secret to do it with")]
    KeySecretMissing {
        /// The template.
        template: String,
    },
    /// A key template that was given a job of another type than the one it was declared for.
    #[error("the key `{template}` was declared for another contract")]
    KeyForeignContract {
        /// The template.
        template: String,
    },
    /// A count or limit of zero or below.
    #[error("`{argument}` must be at least 1")]
    TooSmall {
        /// The argument's name.
        argument: &'static str,
    },
    /// A count or limit that does not fit into 32 bits.
    #[error("`{argument}` must be at most {}", u32::MAX)]
    TooLarge {
        /// The argument's name.
        argument: &'static str,
    },
    /// A `sliding` count over [`MAX_SLIDING_COUNT`].
    #[error(
        "`count` must be at most {MAX_SLIDING_COUNT} with `style = \"sliding\"`: exact windows keep every instant"
    )]
    SlidingCountTooLarge,
    /// A window of zero or below.
    #[error("`{argument}` must be greater than zero")]
    WindowTooSmall {
        /// The argument's name: `per_seconds` or `per`.
        argument: &'static str,
    },
    /// A window over [`MAX_WINDOW_SECONDS`].
    #[error("`{argument}` must be at most {MAX_WINDOW_SECONDS} seconds (7 days)")]
    WindowTooLarge {
        /// The argument's name: `per_seconds` or `per`.
        argument: &'static str,
    },
    /// A window that is no whole number of milliseconds.
    #[error("`{argument}` must be a whole number of milliseconds")]
    WindowTooFine {
        /// The argument's name: `per_seconds` or `per`.
        argument: &'static str,
    },
    /// Two mutexes or semaphores for one job (R14).
    #[error("two concurrency policies for one job: `{first}` and `{second}`")]
    ConcurrencyTwice {
        /// The key of the first one.
        first: String,
        /// The key of the second one.
        second: String,
    },
    /// Two rate limits with one key on one job.
    #[error("two rate limits with the key `{key}` on one job")]
    RateLimitTwice {
        /// The key.
        key: String,
    },
    /// More than [`MAX_RATE_LIMITS`](crate::rate_limit::MAX_RATE_LIMITS) rate limits on one job.
    #[error(
        "more than {} rate limits on one job",
        crate::rate_limit::MAX_RATE_LIMITS
    )]
    TooManyRateLimits,
}

impl PolicyError {
    /// What to write instead, where one thing can be said.
    pub const fn help(&self) -> Option<&'static str> {
        Some(match self {
            Self::KeyEmpty => "name the resource that the limit protects, as in \"payment-api\"",
            Self::KeyTooLong { .. } => "shorten the key",
            Self::KeyControlCharacter { .. } => "use printable characters only",
            Self::KeyLooksLikeEmail => {
                "use a field that names the customer without naming the person, as in \"mail:{customer_id}\", or hash it, as in \"mail:{email|hash}\""
            }
            Self::KeyUnbalancedBrace { .. } => {
                "write `{field}` for a field, `{{` and `}}` for braces"
            }
            Self::KeyInvalidField { .. } => {
                "write the name of a field, as in `{customer_id}` or `{customer.id}`"
            }
            Self::KeyUnknownFilter { .. } => {
                "`hash` is the only one: write `{email|hash}`, or `{email}` for the plain value"
            }
            Self::KeyFieldsTouch { .. } => {
                "put a sign between them that is no letter, digit or `%`, as in `{tenant}:{customer_id}`"
            }
            Self::KeySecretMissing { .. } => "give the worker one with `.key_secret(…)`",
            Self::TooSmall { .. } => "write how many jobs may run, or may start per window",
            Self::TooLarge { .. } => "remove the attribute where nothing is to be limited",
            Self::SlidingCountTooLarge => "use `style = \"fixed\"` or `style = \"token_bucket\"`",
            Self::WindowTooSmall { .. } => {
                "write how long a window lasts, as in `per_seconds = 60` or `per = \"500ms\"`"
            }
            Self::WindowTooLarge { .. } => {
                "the longest window is `per_seconds = 604800` or `per = \"7days\"`"
            }
            Self::WindowTooFine { .. } => "the shortest window is 1 ms",
            Self::ConcurrencyTwice { .. } => {
                "remove one of them: a mutex is a semaphore with one slot"
            }
            Self::RateLimitTwice { .. } => "remove one of them, or give them different keys",
            Self::TooManyRateLimits => "remove one of them",
            _ => return None,
        })
    }
}
