//! The numbers of a declaration.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};

use crate::item;
use crate::policy::{Assertion, Constant, Size, Window};

/// A number in generated code.
pub(super) struct Emitted {
    /// The user's constant with its assertions, apart from the declaration: where one fails, nothing else does.
    pub(super) constant: TokenStream,
    /// What goes into the declaration.
    pub(super) value: TokenStream,
}

/// A count or limit.
pub(super) fn size(size: &Size, own: &TokenStream) -> Emitted {
    match size {
        Size::Literal(value) => Emitted {
            constant: TokenStream::new(),
            value: Literal::u64_unsuffixed(*value).to_token_stream(),
        },
        Size::Constant(constant) => self::constant(constant, &quote!(u32), own),
    }
}

/// A window, in microseconds.
pub(super) fn window(window: &Window, own: &TokenStream) -> Emitted {
    match window {
        Window::Micros(micros) => Emitted {
            constant: TokenStream::new(),
            value: micros.to_token_stream(),
        },
        Window::Seconds(seconds) => {
            let Emitted { constant, value } = constant(seconds, &quote!(u64), own);
            // An assertion has refused what would overflow.
            let value = quote!(#value.wrapping_mul(1_000_000));
            Emitted { constant, value }
        }
    }
}

fn constant(constant: &Constant, integer: &TokenStream, own: &TokenStream) -> Emitted {
    let Constant {
        name,
        value,
        assertions,
    } = constant;
    let expression = with_self(value, own);
    let name = format_ident!("__WARP_{}", name.to_uppercase());
    let assertions = assertions.iter().map(|assertion| match assertion {
        Assertion::AtLeastOne { message } => assert(value, &quote!(#name >= 1), message),
        Assertion::AtMost { maximum, message } => {
            let maximum = Literal::u64_unsuffixed(*maximum);
            assert(value, &quote!(#name <= #maximum), message)
        }
    });
    Emitted {
        constant: quote! {
            const #name: ::core::primitive::#integer = #expression;
            #(const _: () = #assertions;)*
        },
        value: name.to_token_stream(),
    }
}

/// The user's expression where `Self` means nothing: outside the item. It keeps its places, so that the compiler points at it.
fn with_self(value: &TokenStream, own: &TokenStream) -> TokenStream {
    let name = |written: &Ident| Ident::new("__WarpSelf", written.span());
    match item::mention(value.clone(), &[&Ident::new("Self", Span::call_site())]) {
        Some(first) => {
            let alias = name(&first);
            let value = item::replace_self(value.clone(), &|own| name(own).to_token_stream());
            quote!({ type #alias = #own; #value })
        }
        None => value.clone(),
    }
}

/// A failed assertion underlines its call: from the first token of `value` to the last. It stands inline, since a function of the
/// runtime would add notes from inside the standard library.
fn assert(value: &TokenStream, condition: &TokenStream, message: &str) -> TokenStream {
    let mut spans = value.clone().into_iter().map(|token| token.span());
    let first = spans.next().unwrap_or_else(Span::call_site);
    let last = spans.last().unwrap_or(first);
    let callee = quote_spanned!(first=> ::core::assert!);
    let arguments = quote_spanned!(last=> (#condition, #message));
    quote!(#callee #arguments)
}
