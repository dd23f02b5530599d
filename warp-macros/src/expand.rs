//! From an attribute and its item to tokens.

use proc_macro2::TokenStream;
use quote::quote;

use crate::args::Args;
use crate::diag::Errors;
use crate::emit;
use crate::item::{self, Item};
use crate::policy::{self, Family, Key, Kind, Policy};
use crate::rules;

/// Expands one attribute. The item comes out as it went in, also beside errors; without errors its declaration comes with it.
pub(crate) fn expand(kind: Kind, args: TokenStream, tokens: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let item = Item::parse(&tokens);
    let span = item::attribute_span(&tokens);

    rules::check_placement(kind, &item.target, &mut errors);
    let is_placed = errors.is_empty();

    let mut args = Args::parse(kind.grammar(), args, span, &mut errors);
    let runtime = policy::runtime_path(&mut args, &mut errors);
    let key = Key::parse(&args, &mut errors);
    if is_placed {
        rules::check_siblings(kind, &item, span, &mut errors);
        if let Some(key) = &key {
            rules::check_key(kind, key, &item, &mut errors);
            rules::check_fields(key, &item, &tokens, &mut errors);
        }
    }
    let family = Family::parse(kind, args, &mut errors);
    if let Some(family) = &family {
        rules::check_constants(kind, family, &item.target, &mut errors);
    }

    match (key, family) {
        (Some(key), Some(family)) if errors.is_empty() => {
            let policy = Policy {
                kind,
                span,
                runtime,
                key,
                family,
            };
            emit::with_declaration(tokens, &item, &policy)
        }
        _ => {
            let errors = errors.into_tokens();
            quote!(#tokens #errors)
        }
    }
}

#[cfg(test)]
mod tests;
