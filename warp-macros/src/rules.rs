//! Rules that look beyond one attribute: where it stands, its siblings, the fields of its contract.
//!
//! Attributes expand top to bottom, and each sees only those below it, as they are written. So a conflict is reported by the upper of
//! two attributes, on the lower one; one that an alias hides is left to the compiler, which refuses the second hidden constant.

use proc_macro2::{Span, TokenStream};
use syn::{Attribute, Expr, Fields, ItemStruct, Meta, Token};
use warp_policy::PolicyError;
use warp_policy::rate_limit::{MAX_RATE_LIMITS, check_stack};

use crate::args::{self, Text, nearest};
use crate::diag::{self, Errors};
use crate::item::{self, Contract, Impl, Item, Target, last_name};
use crate::policy::{Family, Key, Kind};

/// Contract traits whose calls run in the caller's process (R11).
const IN_PROCESS_HANDLERS: [&str; 2] = ["RequestHandler", "StreamHandler"];

/// Refuses a placement (R10, R11).
pub(crate) fn check_placement(kind: Kind, target: &Target, errors: &mut Errors) {
    match target {
        Target::Misplaced { what, head } => errors.push(head, diag::misplaced(kind, what)),
        Target::Contract(contract) => check_contract(kind, contract, errors),
        Target::Impl(block) => check_impl(kind, block, errors),
    }
}

fn check_contract(kind: Kind, contract: &Contract, errors: &mut Errors) {
    if !contract.generics.params.is_empty() {
        let name = contract.ident.to_string();
        errors.push(&contract.generics, diag::on_generic_contract(kind, &name));
    }
}

fn check_impl(kind: Kind, block: &Impl, errors: &mut Errors) {
    let self_type = item::type_name(&block.self_type);
    let Some(path) = &block.trait_path else {
        errors.push(&block.head, diag::on_inherent_impl(kind, &self_type));
        return;
    };
    let name = last_name(path);
    if IN_PROCESS_HANDLERS.contains(&name.as_str()) {
        errors.push(path, diag::on_in_process_handler(kind, &name));
    } else if block.contract().is_none() {
        errors.push(path, diag::on_other_impl(kind, &name, &self_type));
    }
}

/// The place of an attribute among those of its name: how many stand below it.
pub(crate) fn rank(kind: Kind, item: &Item) -> usize {
    siblings(item)
        .filter(|(sibling, _)| *sibling == kind)
        .count()
}

/// Refuses what the attributes below leave no room for (R14, R15).
pub(crate) fn check_siblings(kind: Kind, item: &Item, span: Span, errors: &mut Errors) {
    match kind {
        Kind::Mutex | Kind::Semaphore => {
            let lower = siblings(item)
                .find(|(sibling, _)| matches!(sibling, Kind::Mutex | Kind::Semaphore));
            if let Some((lower, attribute)) = lower {
                errors.push(attribute, diag::two_concurrency_policies(kind, lower));
            }
        }
        Kind::RateLimit if rank(kind, item) >= MAX_RATE_LIMITS => {
            errors.push_at(span, diag::rule(&PolicyError::TooManyRateLimits));
        }
        Kind::RateLimit => {}
    }
}

/// Refuses the key of a rate limit that stands below once more (R15). Compares with the next equal key only: that one compares with
/// the ones below it.
pub(crate) fn check_key(kind: Kind, key: &Key, item: &Item, errors: &mut Errors) {
    if kind != Kind::RateLimit {
        return;
    }
    let below = siblings(item).filter(|(sibling, _)| *sibling == Kind::RateLimit);
    for (_, attribute) in below {
        let Some(lower) = written_key(attribute) else {
            continue;
        };
        if let Err(error) = check_stack([key.text.value.as_str(), lower.value.as_str()]) {
            errors.push(lower, diag::rule(&error));
            return;
        }
    }
}

fn siblings(item: &Item) -> impl Iterator<Item = (Kind, &Attribute)> {
    item.attributes
        .iter()
        .filter_map(|attribute| Some((Kind::named(&last_name(attribute.path()))?, attribute)))
}

/// The key of an attribute that has not been expanded yet. Its mistakes are its own business.
fn written_key(attribute: &Attribute) -> Option<Text> {
    let Meta::List(list) = &attribute.meta else {
        return None;
    };
    let entries = list
        .parse_args_with(syn::punctuated::Punctuated::<Expr, Token![,]>::parse_terminated)
        .ok()?;
    entries.iter().find_map(args::string)
}

/// Refuses constants that the block is generic over: its one declaration stands outside it (R16).
pub(crate) fn check_constants(kind: Kind, family: &Family, target: &Target, errors: &mut Errors) {
    let Target::Impl(block) = target else {
        return;
    };
    for constant in family.constants() {
        if let Some(parameter) = block.generic_name(constant.value.clone()) {
            let message = diag::constant_of_generics(kind, constant.name, &parameter.to_string());
            errors.push(parameter, message);
        }
    }
}

/// Refuses fields that the contract is seen not to have (R17, R30). Deeper fields, and those of a handler's contract, are the
/// compiler's business.
pub(crate) fn check_fields(key: &Key, item: &Item, tokens: &TokenStream, errors: &mut Errors) {
    if !key.template.has_fields() {
        return;
    }
    match &item.target {
        Target::Contract(contract) if contract.is_enum => {
            errors.push(
                &key.text,
                diag::template_on_enum(&contract.ident.to_string()),
            );
        }
        Target::Contract(contract) => check_struct_fields(key, contract, tokens, errors),
        Target::Impl(block) => {
            if block.is_generic_over_contract() {
                errors.push(&key.text, diag::template_of_generic_contract());
            }
        }
        Target::Misplaced { .. } => {}
    }
}

fn check_struct_fields(key: &Key, contract: &Contract, tokens: &TokenStream, errors: &mut Errors) {
    // A body that cannot be parsed is reported by the compiler.
    let Ok(ItemStruct { fields, .. }) = syn::parse2(tokens.clone()) else {
        return;
    };
    let known = field_names(&fields);
    let contract = contract.ident.to_string();
    for path in key.fields() {
        let Some(field) = path.first().filter(|field| !known.contains(field)) else {
            continue;
        };
        let nearest = nearest(field, known.iter().map(String::as_str));
        errors.push(
            &key.text,
            diag::unknown_field(&contract, field, nearest, &known),
        );
    }
}

fn field_names(fields: &Fields) -> Vec<String> {
    fields
        .iter()
        .enumerate()
        .map(|(index, field)| match &field.ident {
            Some(ident) => syn::ext::IdentExt::unraw(ident).to_string(),
            None => index.to_string(),
        })
        .collect()
}
