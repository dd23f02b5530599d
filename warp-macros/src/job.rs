//! `#[derive(Job)]`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{Attribute, Data, DeriveInput, Meta};
use warp_policy::key::MAX_KEY_BYTES;
use warp_policy::rate_limit::MAX_RATE_LIMITS;

use crate::args::{self, Args, Grammar, Text};
use crate::diag::{self, Errors};
use crate::emit;
use crate::policy::runtime_path;

/// `#[job(name = "…", alias = "…", alias = "…", crate = ::path)]`
const GRAMMAR: Grammar = Grammar {
    attribute: "job",
    has_key: false,
    names: &["name", "alias", "crate"],
    repeatable: Some("alias"),
    number: None,
    example: r#"#[job(name = "send-email")]"#,
};

/// Expands the derive. The implementation comes also beside errors, unless the type can have none: its users get no second message.
pub(crate) fn expand(tokens: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let input = match syn::parse2::<DeriveInput>(tokens) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let can_be_job = check_type(&input, &mut errors);
    check_parts(&input, &mut errors);
    let names = Names::parse(&input, &mut errors);
    let implementation = can_be_job.then(|| implementation(&input, &names));
    let errors = errors.into_tokens();
    quote!(#implementation #errors)
}

fn check_type(input: &DeriveInput, errors: &mut Errors) -> bool {
    let name = &input.ident;
    if let Data::Union(data) = &input.data {
        let keyword = data.union_token;
        errors.push(quote!(#keyword #name), diag::derive_on("a union"));
        return false;
    }
    if !input.generics.params.is_empty() {
        errors.push(&input.generics, diag::derive_on_generic(&name.to_string()));
        return false;
    }
    true
}

/// Refuses `#[job]` on fields and variants, where nothing would read it.
fn check_parts(input: &DeriveInput, errors: &mut Errors) {
    let mut check = |attributes: &[Attribute]| {
        for attribute in attributes.iter().filter(|attribute| is_job(attribute)) {
            errors.push(attribute, diag::job_on_field());
        }
    };
    match &input.data {
        Data::Struct(data) => data.fields.iter().for_each(|field| check(&field.attrs)),
        Data::Enum(data) => {
            for variant in &data.variants {
                check(&variant.attrs);
                variant.fields.iter().for_each(|field| check(&field.attrs));
            }
        }
        Data::Union(_) => {}
    }
}

fn is_job(attribute: &Attribute) -> bool {
    attribute.path().is_ident(GRAMMAR.attribute)
}

/// What `#[job(…)]` says.
struct Names {
    name: String,
    aliases: Vec<String>,
    runtime: TokenStream,
}

impl Names {
    fn parse(input: &DeriveInput, errors: &mut Errors) -> Self {
        let arguments = arguments(&input.attrs, errors);
        let mut args = Args::parse(&GRAMMAR, arguments, Span::call_site(), errors);
        let runtime = runtime_path(&mut args, errors);
        let name = args
            .take("name")
            .and_then(|name| stored_name("name", &name.value, errors))
            .map_or_else(|| input.ident.unraw().to_string(), |text| text.value);
        let mut aliases = Vec::new();
        while let Some(alias) = args.take("alias") {
            let Some(alias) = stored_name("alias", &alias.value, errors) else {
                continue;
            };
            if alias.value == name || aliases.contains(&alias.value) {
                errors.push(&alias, diag::job_alias_twice(&alias.value));
            } else {
                aliases.push(alias.value);
            }
        }
        Self {
            name,
            aliases,
            runtime,
        }
    }
}

/// The arguments of all `#[job(…)]`, as if they stood in one.
fn arguments(attributes: &[Attribute], errors: &mut Errors) -> TokenStream {
    let mut arguments = TokenStream::new();
    for attribute in attributes.iter().filter(|attribute| is_job(attribute)) {
        match &attribute.meta {
            Meta::List(list) => {
                let tokens = &list.tokens;
                let comma = (!arguments.is_empty()).then(|| quote!(,));
                arguments.extend(quote!(#comma #tokens));
            }
            Meta::Path(_) | Meta::NameValue(_) => {
                errors.push(
                    attribute,
                    diag::unexpected_form(GRAMMAR.attribute, GRAMMAR.example),
                );
            }
        }
    }
    arguments
}

/// Reads a name under which jobs are stored; `None` after an error.
fn stored_name(argument: &str, value: &syn::Expr, errors: &mut Errors) -> Option<Text> {
    let Some(text) = args::string(value) else {
        errors.push(
            value,
            diag::wrong_type(argument, "a string literal", "\"send-email\""),
        );
        return None;
    };
    let reason = if text.value.trim().is_empty() {
        "is empty".to_owned()
    } else if text.value.len() > MAX_KEY_BYTES {
        format!(
            "is {} bytes long; at most {MAX_KEY_BYTES} are allowed",
            text.value.len()
        )
    } else if let Some(character) = text.value.chars().find(|character| character.is_control()) {
        format!("contains the control character {character:?}")
    } else {
        return Some(text);
    };
    errors.push(text, diag::job_name(argument, reason));
    None
}

/// `__WARP_DECLARED` collects what the attributes left on the type. Where there is no attribute, the blanket constants of `Undeclared`
/// answer.
fn implementation(input: &DeriveInput, names: &Names) -> TokenStream {
    let Names {
        name,
        aliases,
        runtime,
    } = names;
    let ident = input.ident.to_token_stream();
    let site = emit::site(input.ident.span(), runtime);
    let rate_limits = (0..MAX_RATE_LIMITS).map(|index| format_ident!("__WARP_RATE_LIMIT_{index}"));
    quote! {
        #[automatically_derived]
        impl #runtime::__private::Job for #ident {
            const NAME: &'static ::core::primitive::str = #name;
            const ALIASES: &'static [&'static ::core::primitive::str] = &[#(#aliases),*];
            const __WARP_DECLARED: #runtime::__private::Declared = {
                use #runtime::__private::Undeclared as _;
                #runtime::__private::Declared {
                    concurrency: #ident::__WARP_CONCURRENCY,
                    rate_limits: [#(#ident::#rate_limits),*],
                }
            };
        }

        #runtime::__private::inventory::submit! {
            #runtime::__private::JobRegistration {
                contract: #runtime::__private::Contract::of::<#ident>(),
                site: #site,
            }
        }
    }
}
