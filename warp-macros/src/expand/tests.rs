//! The core runs outside the compiler here, so that it can be fed what no parser would let through (S23).

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use proptest::prelude::*;

use super::expand;
use crate::job;
use crate::policy::Kind;

/// Words that lead deep into the parsers, and some that lead nowhere.
const WORDS: [&str; 66] = [
    "struct",
    "enum",
    "union",
    "impl",
    "for",
    "fn",
    "mod",
    "trait",
    "type",
    "const",
    "static",
    "use",
    "pub",
    "unsafe",
    "async",
    "extern",
    "default",
    "where",
    "dyn",
    "crate",
    "self",
    "Self",
    "let",
    "macro_rules",
    "mutex",
    "semaphore",
    "rate_limit",
    "derive",
    "Job",
    "JobHandler",
    "RequestHandler",
    "job",
    "cfg",
    "mode",
    "count",
    "limit",
    "per",
    "per_seconds",
    "style",
    "name",
    "alias",
    "J",
    "S",
    "x",
    "r#type",
    "'a",
    "\"k\"",
    "\"k:{x}\"",
    "\"{0.self}\"",
    "\"{\"",
    "\"wait\"",
    "\"1h\"",
    "\"sliding\"",
    "b\"k\"",
    "0",
    "1",
    "-1",
    "1.5",
    "9999999999999999999999999999999999999999",
    "5px",
    "'c'",
    "true",
    "\"\"",
    "\"{ͺ}\"",
    "\"{_}\"",
    "\"{99999999999}\"",
];
const SIGNS: [&str; 20] = [
    ",", "=", "==", "::", ":", ";", "<", ">", "->", "#", "!", "&", "+", "|", "?", "$", ".", "..",
    "-", "@",
];

/// Source text of balanced tokens.
fn tokens() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        5 => prop::sample::select(&WORDS[..]).prop_map(str::to_owned),
        3 => prop::sample::select(&SIGNS[..]).prop_map(str::to_owned),
        // Whole pieces, so that the later stages are reached.
        2 => prop::sample::select(&[
            "struct A", "enum A", "impl JobHandler<A> for B", "impl<S: T> JobHandler<A> for B<S>", "impl A",
            "#[mutex(\"k\")]", "#[rate_limit(\"k\", count = 1, per = \"1s\")]", "#[job(name = \"x\")]",
            "(x: u8)", "{ x: u8 }", "\"k\", mode =", "count =", "limit =", "per_seconds =",
        ][..]).prop_map(str::to_owned),
    ];
    let tree = leaf.prop_recursive(3, 24, 6, |inner| {
        let list = prop::collection::vec(inner, 0..6).prop_map(|trees| trees.join(" "));
        prop_oneof![
            list.clone().prop_map(|list| format!("({list})")),
            list.clone().prop_map(|list| format!("[{list}]")),
            list.prop_map(|list| format!("{{{list}}}")),
        ]
    });
    prop::collection::vec(tree, 0..12).prop_map(|trees| trees.join(" "))
}

fn kind() -> impl Strategy<Value = Kind> {
    prop::sample::select(&[Kind::Mutex, Kind::Semaphore, Kind::RateLimit][..])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// S23: no panic, and the item's tokens come out as they went in.
    #[test]
    fn any_tokens_keep_their_item(kind in kind(), args in tokens(), item in tokens()) {
        let (Ok(args), Ok(item)) = (args.parse::<TokenStream>(), item.parse::<TokenStream>()) else {
            return Ok(());
        };
        let expanded = expand(kind, args, item.clone());
        prop_assert!(keeps(&item, &expanded), "{item}\n{expanded}");
    }

    /// S23: a valid attribute on anything.
    #[test]
    fn a_valid_attribute_keeps_any_item(kind in kind(), item in tokens()) {
        let Ok(item) = item.parse::<TokenStream>() else { return Ok(()) };
        let args = match kind {
            Kind::Mutex => "\"k:{x}\"",
            Kind::Semaphore => "\"k\", limit = N",
            Kind::RateLimit => "\"k\", count = 1, per_seconds = 1",
        };
        let expanded = expand(kind, args.parse().expect("tokens"), item.clone());
        prop_assert!(keeps(&item, &expanded), "{item}\n{expanded}");
    }

    /// S23: the derive gets only what the compiler has parsed; it does not depend on that.
    #[test]
    fn the_derive_takes_any_tokens(item in tokens()) {
        if let Ok(item) = item.parse::<TokenStream>() {
            job::expand(item);
        }
    }
}

/// `expanded` starts with `item`, or (in an `impl` block) differs from it only by what its body ends with.
fn keeps(item: &TokenStream, expanded: &TokenStream) -> bool {
    let (item, expanded) = (flat(item), flat(expanded));
    expanded.starts_with(&item)
        || item.split_last().is_some_and(|(end, item)| {
            end == "}" && expanded.starts_with(item) && expanded.ends_with(&["}".to_owned()])
        })
}

fn flat(tokens: &TokenStream) -> Vec<String> {
    let mut texts = Vec::new();
    for token in tokens.clone() {
        let TokenTree::Group(group) = token else {
            texts.push(token.to_string());
            continue;
        };
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::None => ("", ""),
        };
        texts.push(open.to_owned());
        texts.extend(flat(&group.stream()));
        texts.push(close.to_owned());
    }
    texts
}

/// R4, R14: a conflict is reported by the upper attribute, which leaves no constant; siblings stay.
#[test]
fn siblings_are_never_swallowed() {
    let item = r#"#[retry(max = 3)] #[semaphore("b", limit = 2)] #[timeout("5s")] struct A;"#;
    let expanded = expand(
        Kind::Mutex,
        quote::quote!("a"),
        item.parse().expect("tokens"),
    )
    .to_string();
    assert!(expanded.starts_with(&item.parse::<TokenStream>().expect("tokens").to_string()));
    assert_eq!(expanded.matches("compile_error").count(), 1);
    assert!(!expanded.contains("__WARP"));
}

/// R15: of several equal keys below, each is reported once: by the attribute next above it.
#[test]
fn a_key_is_compared_with_the_next_equal_one() {
    let item = r#"#[rate_limit("x", count = 1, per = "1s")] #[rate_limit("x", count = 1, per = "1s")] struct A;"#;
    let args = quote::quote!("x", count = 1, per = "1s");
    let expanded = expand(Kind::RateLimit, args, item.parse().expect("tokens")).to_string();
    assert_eq!(expanded.matches("compile_error").count(), 1);
}

/// R5: without a mistake there is exactly one declaration and one registration, on both rungs.
#[test]
fn a_valid_attribute_declares_and_registers_once() {
    for item in [
        "struct A;",
        "enum A { X }",
        "impl JobHandler<A> for B { }",
        "impl<S: T> x::JobHandler<A> for B<S> where S: U { }",
    ] {
        let expanded = expand(
            Kind::RateLimit,
            quote::quote!("a", count = N, per = "1s"),
            item.parse().expect("tokens"),
        );
        let expanded = expanded.to_string();
        assert_eq!(
            expanded.matches("static __WARP_DECLARATION").count(),
            1,
            "{expanded}"
        );
        assert_eq!(expanded.matches("submit !").count(), 1, "{expanded}");
        assert!(!expanded.contains("compile_error"), "{expanded}");
    }
}
