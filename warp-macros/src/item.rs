//! The item that an attribute stands on. Only its head is parsed: the body stays raw tokens, so that half-typed code comes out as it
//! went in, and the compiler alone complains about it.

mod misplaced;
mod tokens;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::{
    Attribute, GenericArgument, GenericParam, Generics, Ident, Path, PathArguments, Token, Type,
    Visibility,
};

pub(crate) use self::tokens::{append, attribute_span, mention, replace_self, written};

/// An item and what it is.
pub(crate) struct Item {
    /// The attributes that are still to be expanded or inert; the one being expanded is gone.
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) target: Target,
}

/// What an item is to a policy.
pub(crate) enum Target {
    Contract(Contract),
    Impl(Box<Impl>),
    /// Nothing that a policy could go on.
    Misplaced {
        /// As in "cannot go on a function".
        what: &'static str,
        /// What to underline.
        head: TokenStream,
    },
}

/// A struct or enum.
pub(crate) struct Contract {
    pub(crate) ident: Ident,
    pub(crate) is_enum: bool,
    pub(crate) generics: Generics,
}

/// An `impl` block.
pub(crate) struct Impl {
    /// What to underline: `impl` and the type or trait.
    pub(crate) head: TokenStream,
    pub(crate) generics: Generics,
    /// `None` on an inherent block.
    pub(crate) trait_path: Option<Path>,
    pub(crate) self_type: Type,
}

impl Item {
    /// Never fails: what cannot be parsed is [`Target::Misplaced`].
    pub(crate) fn parse(tokens: &TokenStream) -> Self {
        let head = |input: ParseStream| {
            let item = input.parse::<Self>()?;
            input.parse::<TokenStream>()?;
            Ok(item)
        };
        head.parse2(tokens.clone()).unwrap_or_else(|_| Self {
            attributes: Vec::new(),
            target: misplaced::classify(tokens),
        })
    }
}

impl Parse for Item {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        Ok(Self {
            attributes: input.call(Attribute::parse_outer)?,
            target: input.parse()?,
        })
    }
}

impl Parse for Target {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let ahead = input.fork();
        ahead.parse::<Visibility>()?;
        if ahead.peek(Token![struct]) || ahead.peek(Token![enum]) {
            return input.parse().map(Self::Contract);
        }
        ahead.parse::<Option<Token![unsafe]>>()?;
        if ahead.peek(Token![impl]) {
            return Ok(Self::Impl(Box::new(input.parse()?)));
        }
        Ok(misplaced::classify(&input.parse()?))
    }
}

impl Parse for Contract {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        input.parse::<Visibility>()?;
        let is_enum = input.parse::<Option<Token![enum]>>()?.is_some();
        if !is_enum {
            input.parse::<Token![struct]>()?;
        }
        Ok(Self {
            ident: input.parse()?,
            is_enum,
            generics: input.parse()?,
        })
    }
}

impl Parse for Impl {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        input.parse::<Option<Token![unsafe]>>()?;
        let keyword = input.parse::<Token![impl]>()?;
        let generics = input.parse::<Generics>()?;
        let subject = input.parse::<Type>()?;
        let head = quote!(#keyword #generics #subject);
        if input.parse::<Option<Token![for]>>()?.is_none() {
            return Ok(Self {
                head,
                generics,
                trait_path: None,
                self_type: subject,
            });
        }
        Ok(Self {
            head,
            generics,
            trait_path: Some(syn::parse2(subject.into_token_stream())?),
            self_type: input.parse()?,
        })
    }
}

impl Impl {
    /// `SendEmail` in `impl JobHandler<SendEmail> for Mailer`, as a `static` inside the block may name it: without `Self`. `None` where
    /// the trait has no type argument, hence is no handler trait.
    pub(crate) fn contract(&self) -> Option<TokenStream> {
        let arguments = match &self.trait_path.as_ref()?.segments.last()?.arguments {
            PathArguments::AngleBracketed(arguments) => &arguments.args,
            PathArguments::None | PathArguments::Parenthesized(_) => return None,
        };
        let contract = arguments.iter().find_map(|argument| match argument {
            GenericArgument::Type(contract) => Some(contract.to_token_stream()),
            _ => None,
        })?;
        let own = self.self_type.to_token_stream();
        Some(replace_self(contract, &|_| own.clone()))
    }

    /// Whether the block stands for handlers of several contracts.
    pub(crate) fn is_generic_over_contract(&self) -> bool {
        self.contract()
            .is_some_and(|contract| self.generic_name(contract).is_some())
    }

    /// The first name in `tokens` that the block is generic over. With `Self` among them, where the handler's type is.
    pub(crate) fn generic_name(&self, tokens: TokenStream) -> Option<Ident> {
        let parameters: Vec<&Ident> = self
            .generics
            .params
            .iter()
            .map(|parameter| match parameter {
                GenericParam::Lifetime(parameter) => &parameter.lifetime.ident,
                GenericParam::Type(parameter) => &parameter.ident,
                GenericParam::Const(parameter) => &parameter.ident,
            })
            .collect();
        let own = Ident::new("Self", Span::call_site());
        let is_generic = mention(self.self_type.to_token_stream(), &parameters).is_some();
        let names: Vec<&Ident> = is_generic
            .then_some(&own)
            .into_iter()
            .chain(parameters)
            .collect();
        mention(tokens, &names)
    }
}

/// The name of a type for messages: its last segment where it is a path.
pub(crate) fn type_name(written: &Type) -> String {
    match written {
        Type::Group(group) => type_name(&group.elem),
        Type::Paren(paren) => type_name(&paren.elem),
        Type::Path(path) => last_name(&path.path),
        other => tokens::written(other.to_token_stream()),
    }
}

/// The last name of a path: `mutex` in `warp_runtime::mutex`.
pub(crate) fn last_name(path: &Path) -> String {
    path.segments
        .last()
        .map_or_else(String::new, |segment| segment.ident.to_string())
}
