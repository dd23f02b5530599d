//! Random tokens and random argument lists: no panic, and the item comes out as it went in (S23).

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use proptest::prelude::*;

use super::super::expand;
use crate::job;
use crate::policy::Kind;

/// Words that lead deep into the parsers, and some that lead nowhere.
const WORDS: [&str; 72] = [
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
    "\"{x|hash}\"",
    "\"{x}{y|hsh}\"",
    "hash",
    "SLOTS",
    "B",
    "T",
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

/// Items that a policy may go on.
const ITEMS: [&str; 4] = [
    "struct A { x: u8, y: B }",
    "pub enum A { X(u8) }",
    "impl JobHandler<A> for B { async fn handle(&self, _: A, _: &JobContext) -> JobResult { Ok(()) } }",
    "impl<S: T, const N: usize> JobHandler<A> for B<S, N> { }",
];

/// Argument lists: mostly arguments of some attribute with a value that may be right.
fn arguments() -> impl Strategy<Value = String> {
    let name = prop::sample::select(
        &[
            "mode",
            "limit",
            "count",
            "per",
            "per_seconds",
            "style",
            "crate",
            "key",
            "Mode",
            "limt",
            "max",
            "x",
        ][..],
    );
    let value = prop::sample::select(
        &[
            "\"skip\"",
            "\"wait\"",
            "\"weit\"",
            "\"1h 30m\"",
            "\"10\"",
            "\"sliding\"",
            "\"\"",
            "0",
            "1",
            "5",
            "0x1F",
            "1_000u64",
            "-1",
            "- -1",
            "1.5",
            "604800",
            "604801",
            "10_001",
            "4294967296",
            "99999999999999999999999999999999999999999",
            "SLOTS",
            "Self::SLOTS",
            "limits::SLOTS * 2",
            "N",
            "{ 3 }",
            "(4)",
            "::jobs",
            "crate::jobs",
            "jobs",
            "true",
            "'c'",
            "b\"x\"",
            "f(1)",
            "|x| x",
            "",
        ][..],
    );
    let sign = prop::sample::select(&["=", "=", "=", "=", "=", ":", "=="][..]);
    let named = (name, sign, value.clone())
        .prop_map(|(name, sign, value)| format!("{name} {sign} {value}"));
    let key = prop::sample::select(
        &[
            "\"k\"",
            "\"k:{x}\"",
            "\"{x}/{y.z|hash}\"",
            "\"{x}{y}\"",
            "\"{}\"",
            "\"{{k}}\"",
            "\"a@b.c\"",
            "r#\"k\"#",
            "\"k\\n\"",
        ][..],
    );
    let entry = prop_oneof![
        5 => named,
        1 => key.clone().prop_map(str::to_owned),
        1 => value.prop_map(str::to_owned),
    ];
    let separator = prop::sample::select(&[",", ",", ",", ",", ",,", ";", ""][..]);
    let rest = prop::collection::vec((separator, entry), 0..6);
    (prop::option::weighted(0.8, key), rest).prop_map(|(key, rest)| {
        let rest = rest
            .iter()
            .map(|(separator, entry)| format!("{separator} {entry}"));
        key.unwrap_or_default().to_owned() + &rest.collect::<String>()
    })
}

/// How many cases each property sees; `WARP_MACRO_CASES` asks for more.
fn cases() -> u32 {
    let asked = std::env::var("WARP_MACRO_CASES").ok();
    asked.map_or(10_000, |cases| cases.parse().expect("a number of cases"))
}

fn kind() -> impl Strategy<Value = Kind> {
    prop::sample::select(&[Kind::Mutex, Kind::Semaphore, Kind::RateLimit][..])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

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

    /// R18, S23: an argument list near the grammar, on an item that takes it, gives errors or a declaration: never both, never neither.
    #[test]
    fn an_argument_list_is_refused_or_declared(
        kind in kind(),
        args in arguments(),
        item in prop::sample::select(&ITEMS[..]),
    ) {
        let args = args.parse::<TokenStream>().expect("balanced");
        let item = item.parse::<TokenStream>().expect("an item");
        let expanded = expand(kind, args, item.clone());
        prop_assert!(keeps(&item, &expanded), "{item}\n{expanded}");
        let expanded = expanded.to_string();
        let is_refused = expanded.contains("compile_error");
        let is_declared = expanded.contains("__WARP_DECLARATION");
        prop_assert!(is_refused != is_declared, "{expanded}");
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
