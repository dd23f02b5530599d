//! The arguments of an attribute: `"key", name = value, …`.
//!
//! One mistake in an entry does not hide the next entry: each is recorded, and reading goes on behind the next comma.

mod suggest;
mod value;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Expr, Ident, Token};

pub(crate) use self::suggest::nearest;
pub(crate) use self::value::{Integer, Text, crate_path, integer, string, word};
use crate::diag::{self, Errors};

/// `name = value`.
pub(crate) struct Argument {
    pub(crate) name: Ident,
    pub(crate) value: Expr,
}

/// What an attribute takes.
pub(crate) struct Grammar {
    /// The attribute's name.
    pub(crate) attribute: &'static str,
    /// Whether a key comes first.
    pub(crate) has_key: bool,
    /// The named arguments.
    pub(crate) names: &'static [&'static str],
    /// The argument that may be given several times.
    pub(crate) repeatable: Option<&'static str>,
    /// The argument that a bare number is meant for.
    pub(crate) number: Option<&'static str>,
    /// A complete example.
    pub(crate) example: &'static str,
}

/// The arguments as written: known names, each given once.
pub(crate) struct Args {
    grammar: &'static Grammar,
    /// The whole attribute, for what is missing.
    span: Span,
    /// The key, where there is one.
    pub(crate) key: Option<Text>,
    named: Vec<Argument>,
    /// Arguments that an error was reported about. They count as given: one message per cause.
    excused: Vec<&'static str>,
    /// Something was written that could stand for any argument.
    is_garbled: bool,
}

impl Args {
    /// Reads `tokens`.
    pub(crate) fn parse(
        grammar: &'static Grammar,
        tokens: TokenStream,
        span: Span,
        errors: &mut Errors,
    ) -> Self {
        let mut args = Self {
            grammar,
            span,
            key: None,
            named: Vec::new(),
            excused: Vec::new(),
            is_garbled: false,
        };
        let read = |input: ParseStream| {
            while !input.is_empty() {
                if let Err(error) = args.read_entry(input, errors) {
                    args.report_unreadable(&error, errors);
                    skip_entry(input)?;
                }
            }
            Ok(())
        };
        if let Err(error) = read.parse2(tokens) {
            args.report_unreadable(&error, errors);
        }
        args
    }

    /// Reports what the parser stumbled over. It could have been any argument.
    fn report_unreadable(&mut self, error: &syn::Error, errors: &mut Errors) {
        let Grammar {
            attribute, example, ..
        } = *self.grammar;
        errors.push_at(error.span(), diag::unreadable(attribute, error, example));
        self.is_garbled = true;
    }

    /// Takes a named argument; a repeatable one until there is none left.
    pub(crate) fn take(&mut self, name: &'static str) -> Option<Argument> {
        let at = self
            .named
            .iter()
            .position(|argument| argument.name == name)?;
        Some(self.named.remove(at))
    }

    /// Whether an error was reported about this argument.
    pub(crate) fn is_excused(&self, name: &'static str) -> bool {
        self.is_garbled || self.excused.contains(&name)
    }

    /// The key, where it is missing.
    pub(crate) fn missing_key(&self) -> Vec<&'static str> {
        let is_missing = self.key.is_none() && !self.is_excused(KEY);
        if is_missing {
            vec!["a key"]
        } else {
            Vec::new()
        }
    }

    /// Reports the arguments that are missing, in one message.
    pub(crate) fn report_missing(&self, missing: &[&str], errors: &mut Errors) {
        if !missing.is_empty() {
            let Grammar {
                attribute, example, ..
            } = self.grammar;
            errors.push_at(self.span, diag::missing(attribute, missing, example));
        }
    }

    fn read_entry(&mut self, input: ParseStream, errors: &mut Errors) -> syn::Result<()> {
        match input.parse()? {
            Entry::Named(name, value) => self.read_named(name, value, errors),
            Entry::Colon(name, value) => self.report_sign(&name, &value, errors),
            Entry::Positional(value) => self.read_positional(value, errors),
        }
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
        Ok(())
    }

    fn read_named(&mut self, name: Ident, value: Option<Expr>, errors: &mut Errors) {
        let Grammar {
            attribute, names, ..
        } = *self.grammar;
        let written = name.to_string();
        let Some(known) = names.iter().copied().find(|known| *known == written) else {
            if self.grammar.has_key && written == KEY {
                errors.push(name, diag::key_is_positional(attribute));
                self.excused.push(KEY);
                return;
            }
            let nearest = nearest(&written, names.iter().copied());
            errors.push(
                name,
                diag::unknown_argument(attribute, &written, names, nearest),
            );
            match nearest {
                Some(nearest) => self.excused.push(nearest),
                None => self.is_garbled = true,
            }
            return;
        };
        let Some(value) = value else {
            errors.push(name, diag::needs_value(known));
            self.excused.push(known);
            return;
        };
        let is_given = self.named.iter().any(|argument| argument.name == known);
        if is_given && self.grammar.repeatable != Some(known) {
            errors.push(name, diag::given_twice(known));
            return;
        }
        self.named.push(Argument { name, value });
    }

    /// Reports a name whose value stands behind a colon, or in parentheses.
    fn report_sign(&mut self, name: &Ident, value: &impl ToTokens, errors: &mut Errors) {
        let value = value.to_token_stream();
        let message = diag::value_after_equals(&name.to_string(), &value.to_string());
        errors.push(name, message);
        let known = self.grammar.names.iter().find(|known| name == *known);
        match known {
            Some(known) => self.excused.push(known),
            None => self.is_garbled = true,
        }
    }

    fn read_positional(&mut self, value: Expr, errors: &mut Errors) {
        let Grammar {
            attribute,
            has_key,
            names,
            number,
            example,
            ..
        } = *self.grammar;
        let word = value::ident(&value).map(ToString::to_string);
        if let Some(name) = names
            .iter()
            .copied()
            .find(|name| word.as_deref() == Some(*name))
        {
            errors.push(value, diag::needs_value(name));
            self.excused.push(name);
            return;
        }
        if let Some((name, arguments)) = value::call(&value)
            && names.iter().any(|known| name == known)
        {
            self.report_sign(name, arguments, errors);
            return;
        }
        match string(&value) {
            Some(key) if has_key && !self.is_keyed() => self.key = Some(key),
            Some(_) if has_key => errors.push(value, diag::key_twice(attribute)),
            None if has_key && !self.is_keyed() => {
                let written = word.as_deref().unwrap_or("…");
                errors.push(&value, diag::key_is_a_literal(attribute, written));
                self.excused.push(KEY);
            }
            _ => match number {
                Some(name) if !matches!(integer(&value), Integer::Other) => {
                    let number = value.to_token_stream().to_string();
                    errors.push(value, diag::number_is_named(attribute, name, &number));
                    self.excused.push(name);
                }
                _ => errors.push(value, diag::unexpected(attribute, example)),
            },
        }
    }

    fn is_keyed(&self) -> bool {
        self.key.is_some() || self.excused.contains(&KEY)
    }
}

/// What stands for the key where arguments have names.
const KEY: &str = "key";

enum Entry {
    /// `name = value`; the value may be missing.
    Named(Ident, Option<Expr>),
    /// `name: value`
    Colon(Ident, Expr),
    Positional(Expr),
}

impl Parse for Entry {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let is_named =
            input.peek(Ident::peek_any) && input.peek2(Token![=]) && !input.peek2(Token![==]);
        let has_colon =
            input.peek(Ident::peek_any) && input.peek2(Token![:]) && !input.peek2(Token![::]);
        if has_colon {
            let name = Ident::parse_any(input)?;
            input.parse::<Token![:]>()?;
            return Ok(Self::Colon(name, input.parse()?));
        }
        if !is_named {
            return input.parse().map(Self::Positional);
        }
        let name = Ident::parse_any(input)?;
        input.parse::<Token![=]>()?;
        if input.is_empty() || input.peek(Token![,]) {
            return Ok(Self::Named(name, None));
        }
        Ok(Self::Named(name, Some(input.parse()?)))
    }
}

fn skip_entry(input: ParseStream) -> syn::Result<()> {
    while !input.is_empty() {
        if input.parse::<Option<Token![,]>>()?.is_some() {
            break;
        }
        input.parse::<proc_macro2::TokenTree>()?;
    }
    Ok(())
}
