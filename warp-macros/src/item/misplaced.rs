//! Naming an item that a policy cannot go on.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;

use super::Target;

/// The keywords that say what an item is, whatever stands before them.
const KEYWORDS: [(&str, &str); 11] = [
    ("fn", "a function"),
    ("trait", "a trait"),
    ("mod", "a module"),
    ("union", "a union"),
    ("type", "a type alias"),
    ("static", "a static"),
    ("use", "an import"),
    ("impl", "this `impl` block"),
    ("crate", "an `extern crate`"),
    ("macro_rules", "a macro"),
    ("let", "a statement"),
];
/// Keywords that do so only where none of the others follows.
const MODIFIERS: [(&str, &str); 2] = [("const", "a constant"), ("extern", "an `extern` block")];

/// What `item` is, as far as its first words tell.
pub(super) fn classify(item: &TokenStream) -> Target {
    let head = words(item);
    let named = KEYWORDS
        .iter()
        .chain(&MODIFIERS)
        .find_map(|(keyword, what)| {
            let at = head.iter().position(|word| word == keyword)?;
            Some((*what, at))
        });
    match named {
        Some((what, at)) => Target::Misplaced {
            what,
            head: head
                .iter()
                .skip(at)
                .take(2)
                .map(ToTokens::to_token_stream)
                .collect(),
        },
        None => Target::Misplaced {
            what: "this",
            head: item.clone().into_iter().take(1).collect(),
        },
    }
}

/// The words before the first sign that the head has ended. Groups are passed over: the `(crate)` of `pub(crate)`, the content of an
/// attribute.
fn words(item: &TokenStream) -> Vec<Ident> {
    let mut words = Vec::new();
    let mut tokens = item.clone().into_iter();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(word) => words.push(word),
            TokenTree::Punct(sign) if sign.as_char() == '#' => {
                tokens.next();
            }
            TokenTree::Punct(_) => break,
            TokenTree::Group(_) | TokenTree::Literal(_) => {}
        }
    }
    words
}
