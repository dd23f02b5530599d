//! `#[mutex]` and `#[semaphore]`.

use warp_policy::concurrency::check_limit;
use warp_policy::{Mode, PolicyError};

use super::{Assertion, Size};
use crate::args::{self, Args, Grammar};
use crate::diag::Errors;

/// `#[mutex("key")]`, `#[mutex("key", mode = "wait")]`
pub(super) const MUTEX: Grammar = Grammar {
    attribute: "mutex",
    has_key: true,
    names: &["mode", "crate"],
    repeatable: None,
    number: None,
    example: r#"#[mutex("payment")]"#,
};

/// `#[semaphore("key", limit = 5)]`, `#[semaphore("key", limit = 5, mode = "skip")]`
pub(super) const SEMAPHORE: Grammar = Grammar {
    attribute: "semaphore",
    has_key: true,
    names: &[LIMIT, "mode", "crate"],
    repeatable: None,
    number: Some(LIMIT),
    example: r#"#[semaphore("payment-api", limit = 5)]"#,
};

const LIMIT: &str = "limit";

/// A concurrency policy that keeps the rules.
pub(crate) struct Concurrency {
    pub(crate) limit: Size,
    pub(crate) mode: Mode,
}

impl Concurrency {
    pub(super) fn mutex(mut args: Args, errors: &mut Errors) -> Option<Self> {
        args.report_missing(&args.missing_key(), errors);
        Some(Self {
            limit: Size::Literal(1),
            mode: mode(&mut args, Mode::Skip, errors)?,
        })
    }

    pub(super) fn semaphore(mut args: Args, errors: &mut Errors) -> Option<Self> {
        let limit = args.take(LIMIT);
        let mut missing = args.missing_key();
        if limit.is_none() && !args.is_excused(LIMIT) {
            missing.push("`limit`");
        }
        args.report_missing(&missing, errors);

        let limit = limit.and_then(|limit| {
            let assertions = vec![Assertion::at_least_one(&PolicyError::TooSmall {
                argument: LIMIT,
            })];
            Size::parse(LIMIT, &limit.value, 5, check_limit, assertions, errors)
        });
        let mode = mode(&mut args, Mode::Wait, errors);
        Some(Self {
            limit: limit?,
            mode: mode?,
        })
    }
}

/// `mode = "skip" | "wait"`; `None` after an error.
pub(super) fn mode(args: &mut Args, default: Mode, errors: &mut Errors) -> Option<Mode> {
    match args.take("mode") {
        Some(mode) => args::word(
            "mode",
            &mode.value,
            &Mode::ALL.map(Mode::as_str),
            Mode::parse,
            errors,
        ),
        None => Some(default),
    }
}
