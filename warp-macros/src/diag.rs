//! Errors: collected, so that one compile shows all of them.

mod text;

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use warp_policy::PolicyError;

pub(crate) use self::text::*;

/// Every mistake found so far on one item.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    /// Records a mistake and underlines `tokens`.
    pub(crate) fn push(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.push_error(syn::Error::new_spanned(tokens, message));
    }

    /// Records a mistake that has no tokens: something is missing.
    pub(crate) fn push_at(&mut self, span: Span, message: impl Display) {
        self.push_error(syn::Error::new(span, message));
    }

    fn push_error(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Whether nothing was recorded.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The `compile_error!` calls; nothing where nothing was recorded.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.0
            .map_or_else(TokenStream::new, |errors| errors.to_compile_error())
    }
}

/// A broken rule of the rulebook, in the words that the runtime uses too.
pub(crate) fn rule(error: &PolicyError) -> String {
    match error.help() {
        Some(help) => with_help(error, help),
        None => error.to_string(),
    }
}

/// A message with its way out.
pub(crate) fn with_help(message: impl Display, help: impl Display) -> String {
    format!("{message}\nhelp: {help}")
}

/// `a`, `b` and `c`.
pub(crate) fn list<T: Display>(items: &[T], conjunction: &str) -> String {
    match items {
        [] => String::new(),
        [only] => only.to_string(),
        [firsts @ .., last] => {
            let firsts: Vec<String> = firsts.iter().map(ToString::to_string).collect();
            format!("{} {conjunction} {last}", firsts.join(", "))
        }
    }
}
