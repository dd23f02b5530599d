//! `#[rate_limit]`.

use syn::Expr;
use warp_policy::rate_limit::{self, MAX_SLIDING_COUNT, MAX_WINDOW_SECONDS, check_count};
use warp_policy::{Mode, PolicyError, Style};

use super::concurrency::mode;
use super::{Assertion, Constant, Size};
use crate::args::{self, Args, Argument, Grammar};
use crate::diag::{self, Errors};

/// `#[rate_limit("key", count = 10, per_seconds = 60)]`, `#[rate_limit("key", count = 10, per = "1m")]`, each with
/// `mode = "wait"` and `style = "sliding"`
pub(super) const GRAMMAR: Grammar = Grammar {
    attribute: "rate_limit",
    has_key: true,
    names: &[COUNT, PER_SECONDS, PER, "mode", "style", "crate"],
    repeatable: None,
    number: Some(COUNT),
    example: r#"#[rate_limit("payment-api", count = 10, per_seconds = 60)]"#,
};

const COUNT: &str = "count";
const PER_SECONDS: &str = "per_seconds";
const PER: &str = "per";

/// A rate limit that keeps the rules.
pub(crate) struct RateLimit {
    pub(crate) count: Size,
    pub(crate) window: Window,
    pub(crate) mode: Mode,
    pub(crate) style: Style,
}

/// The window of a rate limit.
pub(crate) enum Window {
    Micros(u64),
    /// A constant, in seconds.
    Seconds(Constant),
}

impl Window {
    pub(super) fn constant(&self) -> Option<&Constant> {
        match self {
            Self::Seconds(constant) => Some(constant),
            Self::Micros(_) => None,
        }
    }
}

impl RateLimit {
    pub(super) fn parse(mut args: Args, errors: &mut Errors) -> Option<Self> {
        let count = args.take(COUNT);
        let per_seconds = args.take(PER_SECONDS);
        let per = args.take(PER);
        let has_window = per_seconds.is_some() || per.is_some();
        let mut missing = args.missing_key();
        if count.is_none() && !args.is_excused(COUNT) {
            missing.push("`count`");
        }
        if !has_window && !args.is_excused(PER_SECONDS) && !args.is_excused(PER) {
            missing.push("one of `per_seconds` and `per`");
        }
        args.report_missing(&missing, errors);

        let style = style(&mut args, errors);
        let count =
            count.and_then(|count| count_size(&count.value, style.unwrap_or(Style::Fixed), errors));
        let window = window(per_seconds, per, errors);
        let mode = mode(&mut args, Mode::Skip, errors);
        Some(Self {
            count: count?,
            window: window?,
            mode: mode?,
            style: style?,
        })
    }
}

fn style(args: &mut Args, errors: &mut Errors) -> Option<Style> {
    match args.take("style") {
        Some(style) => args::word(
            "style",
            &style.value,
            &Style::ALL.map(Style::as_str),
            Style::parse,
            errors,
        ),
        None => Some(Style::Fixed),
    }
}

fn count_size(value: &Expr, style: Style, errors: &mut Errors) -> Option<Size> {
    let too_small = PolicyError::TooSmall { argument: COUNT };
    let mut assertions = vec![Assertion::at_least_one(&too_small)];
    if style == Style::Sliding {
        assertions.push(Assertion::at_most(
            MAX_SLIDING_COUNT,
            &PolicyError::SlidingCountTooLarge,
        ));
    }
    Size::parse(
        COUNT,
        value,
        10,
        |count| check_count(count, style),
        assertions,
        errors,
    )
}

/// The window; `None` after an error, or where there is none. Both are judged where both are given: each may hold a mistake.
fn window(
    per_seconds: Option<Argument>,
    per: Option<Argument>,
    errors: &mut Errors,
) -> Option<Window> {
    if let (Some(_), Some(per)) = (&per_seconds, &per) {
        errors.push(&per.name, diag::two_windows());
    }
    let per_seconds = per_seconds.map(|argument| seconds(&argument.value, errors));
    let per = per.map(|argument| duration(&argument.value, errors));
    per_seconds.or(per)?
}

fn seconds(value: &Expr, errors: &mut Errors) -> Option<Window> {
    let argument = PER_SECONDS;
    let assertions = vec![
        Assertion::at_least_one(&PolicyError::WindowTooSmall { argument }),
        Assertion::at_most(
            MAX_WINDOW_SECONDS,
            &PolicyError::WindowTooLarge { argument },
        ),
    ];
    let check = rate_limit::Window::from_seconds;
    match Size::parse(argument, value, 60, check, assertions, errors)? {
        Size::Literal(micros) => Some(Window::Micros(micros)),
        Size::Constant(constant) => Some(Window::Seconds(constant)),
    }
}

fn duration(value: &Expr, errors: &mut Errors) -> Option<Window> {
    let Some(text) = args::string(value) else {
        errors.push(value, diag::per_is_a_literal());
        return None;
    };
    let parsed = humantime::parse_duration(&text.value)
        .map_err(|error| diag::invalid_duration(&text.value, &error.to_string()))
        .and_then(|duration| {
            rate_limit::Window::from_duration(duration).map_err(|error| diag::rule(&error))
        });
    match parsed {
        Ok(window) => Some(Window::Micros(window.as_micros())),
        Err(message) => {
            errors.push(text, message);
            None
        }
    }
}
