//! The attributes as typed values.

mod concurrency;
mod key;
mod rate_limit;
mod size;

use std::fmt;

use proc_macro2::{Span, TokenStream};
use quote::quote;

pub(crate) use self::concurrency::Concurrency;
pub(crate) use self::key::Key;
pub(crate) use self::rate_limit::{RateLimit, Window};
pub(crate) use self::size::{Assertion, Constant, Size};
use crate::args::{self, Args, Grammar};
use crate::diag::Errors;

/// The attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Mutex,
    Semaphore,
    RateLimit,
}

impl Kind {
    /// The attribute with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::Mutex, Self::Semaphore, Self::RateLimit]
            .into_iter()
            .find(|kind| kind.grammar().attribute == name)
    }

    /// What the attribute takes.
    pub(crate) const fn grammar(self) -> &'static Grammar {
        match self {
            Self::Mutex => &concurrency::MUTEX,
            Self::Semaphore => &concurrency::SEMAPHORE,
            Self::RateLimit => &rate_limit::GRAMMAR,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.grammar().attribute)
    }
}

/// One attribute.
pub(crate) struct Policy {
    pub(crate) kind: Kind,
    /// The whole attribute.
    pub(crate) span: Span,
    /// The path of the runtime.
    pub(crate) runtime: TokenStream,
    pub(crate) key: Key,
    pub(crate) family: Family,
}

/// A policy's family (R3), with what is its own.
pub(crate) enum Family {
    Concurrency(Concurrency),
    RateLimit(RateLimit),
}

impl Family {
    /// Reads what stands beside the key; `None` after an error.
    pub(crate) fn parse(kind: Kind, args: Args, errors: &mut Errors) -> Option<Self> {
        Some(match kind {
            Kind::Mutex => Self::Concurrency(Concurrency::mutex(args, errors)?),
            Kind::Semaphore => Self::Concurrency(Concurrency::semaphore(args, errors)?),
            Kind::RateLimit => Self::RateLimit(RateLimit::parse(args, errors)?),
        })
    }
}

impl Family {
    /// The numbers that only the compiler knows.
    pub(crate) fn constants(&self) -> impl Iterator<Item = &Constant> {
        let (first, second) = match self {
            Self::Concurrency(Concurrency { limit, .. }) => (limit.constant(), None),
            Self::RateLimit(RateLimit { count, window, .. }) => {
                (count.constant(), window.constant())
            }
        };
        first.into_iter().chain(second)
    }
}

/// `crate = ::path`, or where the runtime is by default.
pub(crate) fn runtime_path(args: &mut Args, errors: &mut Errors) -> TokenStream {
    args.take("crate")
        .and_then(|path| args::crate_path(&path.value, errors))
        .unwrap_or_else(|| quote!(::warp_runtime))
}
