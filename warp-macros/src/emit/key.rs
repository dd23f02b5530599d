//! The key of a declaration.

use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use warp_policy::key::Segment;

use crate::policy::Key;

/// A `KeyDeclaration`. A template becomes a function that reads the fields of `contract`.
pub(super) fn declaration(key: &Key, contract: &TokenStream, runtime: &TokenStream) -> TokenStream {
    if !key.template.has_fields() {
        let text = key.template.fixed_text();
        return quote!(#runtime::__private::KeyDeclaration::Fixed(#text));
    }
    // The mistakes that only the compiler finds here are mistakes in the key, hence its place. All of it, since a literal that came
    // through a `macro_rules!` macro has names of its own.
    let span = key.text.literal.span();
    let (job, writer) = (
        Ident::new("__warp_job", span),
        Ident::new("__warp_key", span),
    );
    let parts = key.template.segments().iter().map(|segment| match segment {
        Segment::Text(text) => quote!(#writer.text(#text);),
        Segment::Field { path, is_hashed } => {
            let path = path.iter().map(|name| member(name, span));
            let field = if *is_hashed {
                quote!(hashed_field)
            } else {
                quote!(field)
            };
            quote_spanned!(span=> #writer.#field(&#job.#(#path).*);)
        }
    });
    let text = &key.text;
    let (escapes, has_hashes) = (key.template.escapes(), key.template.has_hashes());
    quote! {
        #runtime::__private::KeyDeclaration::Template {
            text: #text,
            escapes: #escapes,
            has_hashes: #has_hashes,
            render: |#job, #writer| {
                let #job = #job.downcast_ref::<#contract>()?;
                #(#parts)*
                ::core::option::Option::Some(())
            },
        }
    }
}

/// The token of a name in a template, which `Key` has checked. A field may be called like a keyword, hence the raw form. The place is
/// that of the macro's own code: in the user's code the compiler would offer to replace the whole key by a similar field.
fn member(name: &str, span: Span) -> TokenTree {
    let span = Span::mixed_site().located_at(span);
    match name.parse::<u32>() {
        Ok(index) => {
            let mut index = Literal::u32_unsuffixed(index);
            index.set_span(span);
            index.into()
        }
        Err(_) => Ident::new_raw(name, span).into(),
    }
}
