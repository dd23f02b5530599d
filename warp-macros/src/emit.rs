//! The generated code of an attribute.
//!
//! Only absolute paths, and only into the runtime's private module; every name starts with `__warp_` or `__WARP_`, since arguments
//! that are expressions see them. Nothing here may depend on what the user's module calls things.

mod key;
mod size;

use proc_macro2::{Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use warp_policy::{Mode, Style};

use crate::diag;
use crate::item::{self, Contract, Impl, Item, Target, written};
use crate::policy::{Concurrency, Family, Policy, RateLimit};
use crate::rules;

/// The item with its declaration: beside a contract, inside an `impl` block.
pub(crate) fn with_declaration(tokens: TokenStream, item: &Item, policy: &Policy) -> TokenStream {
    let family = Names::new(policy, item);
    match &item.target {
        Target::Contract(contract) => {
            let declaration = beside_contract(contract, policy, &family);
            quote!(#tokens #declaration)
        }
        Target::Impl(block) => {
            let declaration = inside_impl(block, policy, &family);
            item::append(&tokens, declaration)
        }
        Target::Misplaced { .. } => tokens,
    }
}

/// How the family is called in the runtime.
struct Names {
    /// The variant of `Policy`.
    variant: TokenStream,
    /// The type of the declaration.
    declaration: TokenStream,
    /// The hidden constant of the contract.
    constant: String,
    /// Where `Declared` keeps it.
    field: TokenStream,
}

impl Names {
    fn new(policy: &Policy, item: &Item) -> Self {
        match &policy.family {
            Family::Concurrency(_) => Self {
                variant: quote!(Concurrency),
                declaration: quote!(ConcurrencyDeclaration),
                constant: "__WARP_CONCURRENCY".to_owned(),
                field: quote!(concurrency),
            },
            Family::RateLimit(_) => {
                let rank = rules::rank(policy.kind, item);
                let index = Literal::usize_unsuffixed(rank);
                Self {
                    variant: quote!(RateLimit),
                    declaration: quote!(RateLimitDeclaration),
                    constant: format!("__WARP_RATE_LIMIT_{rank}"),
                    field: quote!(rate_limits[#index]),
                }
            }
        }
    }
}

/// An inherent constant, which wins over the blanket one inside the code that the derive emits (R5), whichever of the two comes first.
fn beside_contract(contract: &Contract, policy: &Policy, names: &Names) -> TokenStream {
    let Policy { kind, runtime, .. } = policy;
    let Names {
        declaration, field, ..
    } = names;
    let ident = &contract.ident;
    let constant = format_ident!("{}", names.constant);
    let own = ident.to_token_stream();
    let registered = registered(policy, names, &quote!(contract::<#ident>()), &own, &own);
    let by_hand = diag::job_by_hand(*kind);
    quote! {
        const _: () = {
            #registered

            #[automatically_derived]
            impl #ident {
                #[doc(hidden)]
                const #constant: ::core::option::Option<&'static #runtime::__private::#declaration> =
                    ::core::option::Option::Some(&__WARP_DECLARATION);
            }

            ::core::assert!(
                <#ident as #runtime::__private::PolicyTarget>::DECLARED.#field.is_some(),
                #by_hand
            );
        };
    }
}

/// An associated constant of the handler trait. Its initialiser holds the registration, since it alone may stand in a generic block.
fn inside_impl(block: &Impl, policy: &Policy, names: &Names) -> TokenStream {
    let runtime = &policy.runtime;
    let Names { declaration, .. } = names;
    let constant = format_ident!("{}_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL", names.constant);
    let contract = block.contract().unwrap_or_default();
    let (handler_name, contract_name) = (
        written(block.self_type.to_token_stream()),
        written(contract.clone()),
    );
    let item = quote!(Handler { handler: #handler_name, contract: #contract_name });
    let own = block.self_type.to_token_stream();
    let registered = registered(policy, names, &item, &contract, &own);
    quote! {
        #[doc(hidden)]
        const #constant: ::core::option::Option<&'static #runtime::__private::#declaration> = {
            #registered

            ::core::option::Option::Some(&__WARP_DECLARATION)
        };
    }
}

/// The declaration as a `static`, and its registration. `own` is what `Self` means on the item.
fn registered(
    policy: &Policy,
    names: &Names,
    item: &TokenStream,
    contract: &TokenStream,
    own: &TokenStream,
) -> TokenStream {
    let runtime = &policy.runtime;
    let Names {
        variant,
        declaration,
        ..
    } = names;
    let key = key::declaration(&policy.key, contract, runtime);
    let site = site(policy.span, runtime);
    let (constants, value) = match &policy.family {
        Family::Concurrency(Concurrency { limit, mode }) => {
            let limit = size::size(limit, own);
            let mode = self::mode(*mode, runtime);
            let value = limit.value;
            (limit.constant, quote!(new(#key, #value, #mode, #site)))
        }
        Family::RateLimit(RateLimit {
            count,
            window,
            mode,
            style,
        }) => {
            let (count, window) = (size::size(count, own), size::window(window, own));
            let (mode, style) = (self::mode(*mode, runtime), self::style(*style, runtime));
            let (count_constant, window_constant) = (count.constant, window.constant);
            let (count, window) = (count.value, window.value);
            (
                quote!(#count_constant #window_constant),
                quote!(new(#key, #count, #window, #mode, #style, #site)),
            )
        }
    };
    quote! {
        #constants

        static __WARP_DECLARATION: #runtime::__private::#declaration = #runtime::__private::#declaration::#value;

        #runtime::__private::inventory::submit! {
            #runtime::__private::Registration {
                item: #runtime::__private::Item::#item,
                policy: #runtime::__private::Policy::#variant(&__WARP_DECLARATION),
            }
        }
    }
}

fn mode(mode: Mode, runtime: &TokenStream) -> TokenStream {
    match mode {
        Mode::Skip => quote!(#runtime::__private::Mode::Skip),
        Mode::Wait => quote!(#runtime::__private::Mode::Wait),
    }
}

fn style(style: Style, runtime: &TokenStream) -> TokenStream {
    match style {
        Style::Fixed => quote!(#runtime::__private::Style::Fixed),
        Style::Sliding => quote!(#runtime::__private::Style::Sliding),
        Style::TokenBucket => quote!(#runtime::__private::Style::TokenBucket),
    }
}

/// The place of `span`.
pub(crate) fn site(span: Span, runtime: &TokenStream) -> TokenStream {
    quote_spanned!(span=> #runtime::__private::Site { file: ::core::file!(), line: ::core::line!() })
}
