//! Counts, limits and windows: literals judged here, constants by the compiler, in the same words (R16).

use std::fmt::Display;

use proc_macro2::TokenStream;
use syn::Expr;
use warp_policy::PolicyError;

use crate::args::{self, Integer};
use crate::diag::{self, Errors};

/// A number that keeps the rules, or will not compile.
pub(crate) enum Size {
    Literal(u64),
    Constant(Constant),
}

/// A number that only the compiler knows.
pub(crate) struct Constant {
    /// The argument's name.
    pub(crate) name: &'static str,
    pub(crate) value: TokenStream,
    pub(crate) assertions: Vec<Assertion>,
}

/// What a constant must be.
pub(crate) enum Assertion {
    AtLeastOne { message: String },
    AtMost { maximum: u64, message: String },
}

impl Assertion {
    pub(super) fn at_least_one(error: &PolicyError) -> Self {
        Self::AtLeastOne {
            message: diag::rule(error),
        }
    }

    pub(super) fn at_most(maximum: impl Into<u64>, error: &PolicyError) -> Self {
        Self::AtMost {
            maximum: maximum.into(),
            message: diag::rule(error),
        }
    }
}

impl Size {
    pub(super) fn constant(&self) -> Option<&Constant> {
        match self {
            Self::Constant(constant) => Some(constant),
            Self::Literal(_) => None,
        }
    }

    /// Reads the argument `name`; `None` after an error.
    pub(super) fn parse<T: Into<u64>>(
        name: &'static str,
        value: &Expr,
        example: impl Display,
        check: impl Fn(i128) -> Result<T, PolicyError>,
        assertions: Vec<Assertion>,
        errors: &mut Errors,
    ) -> Option<Self> {
        match args::integer(value) {
            Integer::Literal(literal) => match check(literal) {
                Ok(checked) => Some(Self::Literal(checked.into())),
                Err(error) => {
                    errors.push(value, diag::rule(&error));
                    None
                }
            },
            Integer::Constant(value) => Some(Self::Constant(Constant {
                name,
                value,
                assertions,
            })),
            Integer::Other => {
                // `"10"` was meant to be 10.
                let quoted = args::string(value).and_then(|text| text.value.parse::<u32>().ok());
                let example = quoted.map_or_else(|| example.to_string(), |meant| meant.to_string());
                errors.push(value, diag::wrong_type(name, "an integer", &example));
                None
            }
        }
    }
}
