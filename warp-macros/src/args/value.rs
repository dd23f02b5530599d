//! Reading the values of arguments.

use proc_macro2::{Literal, TokenStream};
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{
    Expr, ExprGroup, ExprLit, ExprParen, ExprPath, ExprUnary, Ident, Lit, LitInt, Token, UnOp,
};

use super::nearest;
use crate::diag::{self, Errors};

/// An argument that holds a number.
pub(crate) enum Integer {
    /// Judged here.
    Literal(i128),
    /// An expression, judged by a const assertion.
    Constant(TokenStream),
    /// A literal of another type.
    Other,
}

/// Reads a number. A literal beyond `i128` counts as its nearest bound, which every cap refuses.
pub(crate) fn integer(value: &Expr) -> Integer {
    match bare(value) {
        Expr::Lit(ExprLit {
            lit: Lit::Int(literal),
            ..
        }) => match magnitude(literal) {
            Some(magnitude) => Integer::Literal(magnitude),
            None => Integer::Other,
        },
        Expr::Lit(_) => Integer::Other,
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(_),
            expr,
            ..
        }) => match integer(expr) {
            Integer::Literal(magnitude) => Integer::Literal(-magnitude),
            Integer::Other => Integer::Other,
            Integer::Constant(_) => Integer::Constant(value.to_token_stream()),
        },
        _ => Integer::Constant(value.to_token_stream()),
    }
}

/// `None` for a suffix that makes it no integer, as in `10px`.
fn magnitude(literal: &LitInt) -> Option<i128> {
    const SUFFIXES: [&str; 13] = [
        "", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize",
    ];
    SUFFIXES
        .contains(&literal.suffix())
        .then(|| literal.base10_parse().unwrap_or(i128::MAX))
}

/// A string literal.
#[derive(Clone)]
pub(crate) struct Text {
    /// What it says.
    pub(crate) value: String,
    /// How it is written, with its place.
    pub(crate) literal: Literal,
}

impl ToTokens for Text {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.literal.to_tokens(tokens);
    }
}

/// Reads a string literal.
pub(crate) fn string(value: &Expr) -> Option<Text> {
    match bare(value) {
        Expr::Lit(ExprLit {
            lit: Lit::Str(literal),
            ..
        }) if literal.suffix().is_empty() => Some(Text {
            value: literal.value(),
            literal: literal.token(),
        }),
        _ => None,
    }
}

/// Reads a word that `parse` knows, such as `"skip"`; `None` after an error.
pub(crate) fn word<T>(
    name: &str,
    value: &Expr,
    known: &[&str],
    parse: impl Fn(&str) -> Option<T>,
    errors: &mut Errors,
) -> Option<T> {
    let Some(text) = string(value) else {
        let known: Vec<String> = known.iter().map(|word| format!("\"{word}\"")).collect();
        let expected = diag::list(&known, "or");
        let example = known.first().map_or("\"…\"", String::as_str);
        errors.push(value, diag::wrong_type(name, &expected, example));
        return None;
    };
    let parsed = parse(&text.value);
    if parsed.is_none() {
        let nearest = nearest(&text.value, known.iter().copied());
        errors.push(&text, diag::unknown_word(name, &text.value, known, nearest));
    }
    parsed
}

/// Reads `crate = ::path`. It must be absolute: generated code stands in modules of which the macro knows nothing.
pub(crate) fn crate_path(value: &Expr, errors: &mut Errors) -> Option<TokenStream> {
    if let Expr::Path(ExprPath {
        qself: None, path, ..
    }) = bare(value)
    {
        let first = path
            .segments
            .first()
            .map(|segment| segment.ident.to_string());
        let is_local = first.is_some_and(|first| first == "crate" || first == "$crate");
        let has_arguments = path
            .segments
            .iter()
            .any(|segment| !segment.arguments.is_none());
        if (path.leading_colon.is_some() || is_local) && !has_arguments {
            return Some(path.to_token_stream());
        }
    }
    errors.push(value, diag::crate_is_absolute());
    None
}

/// The identifier that the value is, if it is one.
pub(super) fn ident(value: &Expr) -> Option<&Ident> {
    match bare(value) {
        Expr::Path(ExprPath {
            qself: None, path, ..
        }) => path.get_ident(),
        _ => None,
    }
}

/// The parts of `name(arguments)`.
pub(super) fn call(value: &Expr) -> Option<(&Ident, &Punctuated<Expr, Token![,]>)> {
    match bare(value) {
        Expr::Call(call) => Some((ident(&call.func)?, &call.args)),
        _ => None,
    }
}

/// The value without parentheses, visible or (around what came out of a `macro_rules!` fragment) invisible.
fn bare(value: &Expr) -> &Expr {
    match value {
        Expr::Group(ExprGroup { expr, .. }) | Expr::Paren(ExprParen { expr, .. }) => bare(expr),
        other => other,
    }
}
