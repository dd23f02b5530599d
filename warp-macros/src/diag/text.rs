//! The text of every error that is ours alone; the caps have theirs in the rulebook. Here, so that the wording is reviewed in one file.
//!
//! Form: one lower-case sentence without a final period; then `help: ` and something to do.

use std::fmt::Display;

use super::{list, with_help};
use crate::policy::Kind;

// Placement (R10, R11).

pub(crate) fn misplaced(kind: Kind, what: &str) -> String {
    with_help(
        format!("`#[{kind}]` cannot go on {what}"),
        "put it on the job's struct or enum, or on its `impl JobHandler` block",
    )
}

pub(crate) fn on_inherent_impl(kind: Kind, self_type: &str) -> String {
    with_help(
        format!(
            "`#[{kind}]` goes on an `impl JobHandler<…> for …` block; this block implements no trait"
        ),
        format!("move it to the definition of `{self_type}`, or to its `impl JobHandler` block"),
    )
}

pub(crate) fn on_other_impl(kind: Kind, trait_name: &str, self_type: &str) -> String {
    with_help(
        format!(
            "`#[{kind}]` goes on an `impl JobHandler<…> for …` block; this block implements `{trait_name}`"
        ),
        format!("move it to the definition of `{self_type}`, or to its `impl JobHandler` block"),
    )
}

pub(crate) fn on_in_process_handler(kind: Kind, trait_name: &str) -> String {
    with_help(
        format!(
            "`#[{kind}]` cannot go on an `impl {trait_name}` block: its calls are answered in the caller's process, without a policy"
        ),
        "make the work a job, and put the policy on the job or on its `impl JobHandler` block",
    )
}

pub(crate) fn on_generic_contract(kind: Kind, name: &str) -> String {
    with_help(
        format!(
            "`#[{kind}]` cannot go on a generic type: a policy is registered for one concrete type"
        ),
        format!(
            "put it on the `impl JobHandler` block, or wrap the type: `struct {name}Job({name}<…>);`"
        ),
    )
}

pub(crate) fn job_by_hand(kind: Kind) -> String {
    with_help(
        format!(
            "`#[{kind}]` needs `#[derive(Job)]`: this type implements `Job` by hand, and its jobs would not carry the policy"
        ),
        "derive `Job`, or put the policy on the `impl JobHandler` block",
    )
}

// Several attributes on one item (R14).

pub(crate) fn two_concurrency_policies(upper: Kind, lower: Kind) -> String {
    let message = if upper == lower {
        format!("`#[{upper}]` is given twice on one item")
    } else {
        format!("`#[{upper}]` and `#[{lower}]` on one item: a mutex is a semaphore with one slot")
    };
    with_help(message, "remove one of them")
}

// Arguments (R18).

pub(crate) fn missing(attribute: &str, missing: &[&str], example: &str) -> String {
    with_help(
        format!("`#[{attribute}]` needs {}", list(missing, "and")),
        format!("write `{example}`"),
    )
}

pub(crate) fn unknown_argument(
    attribute: &str,
    name: &str,
    known: &[&str],
    nearest: Option<&str>,
) -> String {
    let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    let accepted = format!("`#[{attribute}]` takes {}", list(&known, "and"));
    with_help(
        format!("unknown argument `{name}` for `#[{attribute}]`"),
        match nearest {
            Some(nearest) => format!("did you mean `{nearest}`? {accepted}"),
            None => accepted,
        },
    )
}

pub(crate) fn given_twice(name: &str) -> String {
    with_help(format!("`{name}` is given twice"), "remove one of them")
}

pub(crate) fn needs_value(name: &str) -> String {
    with_help(
        format!("`{name}` needs a value"),
        format!("write `{name} = …`"),
    )
}

pub(crate) fn value_after_equals(name: &str, value: &str) -> String {
    with_help(
        format!("the value of `{name}` comes after an equals sign"),
        format!("write `{name} = {value}`"),
    )
}

pub(crate) fn unexpected(attribute: &str, example: &str) -> String {
    with_help(
        format!("`#[{attribute}]` does not take this argument"),
        format!("write `{example}`"),
    )
}

pub(crate) fn unexpected_form(attribute: &str, example: &str) -> String {
    with_help(
        format!("`#[{attribute}]` takes its arguments in parentheses"),
        format!("write `{example}`"),
    )
}

pub(crate) fn unreadable(attribute: &str, reason: impl Display, example: &str) -> String {
    with_help(
        format!("`#[{attribute}]` cannot be read from here on: {reason}"),
        format!("write `{example}`"),
    )
}

pub(crate) fn key_is_positional(attribute: &str) -> String {
    with_help(
        format!("the key of `#[{attribute}]` comes first, without a name"),
        format!("write `#[{attribute}(\"…\")]`"),
    )
}

pub(crate) fn key_twice(attribute: &str) -> String {
    with_help(
        format!("`#[{attribute}]` takes one key"),
        "remove one of them",
    )
}

pub(crate) fn key_is_a_literal(attribute: &str, written: &str) -> String {
    with_help(
        "the key must be a string literal",
        format!("write `#[{attribute}(\"{written}\")]`"),
    )
}

pub(crate) fn number_is_named(attribute: &str, name: &str, number: &str) -> String {
    with_help(
        format!("`#[{attribute}]` takes `{name}` by name"),
        format!("write `{name} = {number}`"),
    )
}

pub(crate) fn crate_is_absolute() -> String {
    with_help(
        "`crate` must be an absolute path to the runtime",
        "write `crate = ::some_crate` or `crate = crate::some_module`",
    )
}

// Values (R16, R18).

pub(crate) fn wrong_type(name: &str, expected: &str, example: &str) -> String {
    with_help(
        format!("`{name}` must be {expected}"),
        format!("write `{name} = {example}`"),
    )
}

pub(crate) fn constant_of_generics(kind: Kind, name: &str, parameter: &str) -> String {
    with_help(
        format!(
            "`{name}` of `#[{kind}]` cannot depend on `{parameter}`: one policy stands for every type of this block"
        ),
        format!("write a number or a constant, as in `{name} = 5`"),
    )
}

pub(crate) fn unknown_word(
    name: &str,
    word: &str,
    known: &[&str],
    nearest: Option<&str>,
) -> String {
    let known: Vec<String> = known.iter().map(|word| format!("\"{word}\"")).collect();
    let accepted = format!("`{name}` is {}", list(&known, "or"));
    with_help(
        format!("unknown {name} `{word}`"),
        match nearest {
            Some(nearest) => format!("did you mean \"{nearest}\"? {accepted}"),
            None => accepted,
        },
    )
}

pub(crate) fn invalid_duration(text: &str, reason: &str) -> String {
    with_help(
        format!("invalid duration `{text}`: {reason}"),
        "write numbers with their units, as in `per = \"1h 30m\"`",
    )
}

pub(crate) fn per_is_a_literal() -> String {
    with_help(
        "`per` must be a string literal",
        "write `per = \"1h 30m\"`; a constant goes into `per_seconds`",
    )
}

pub(crate) fn two_windows() -> String {
    with_help(
        "`per_seconds` and `per` both give the window",
        "remove one of them",
    )
}

// Templates (R17, R30).

pub(crate) fn unknown_field(
    contract: &str,
    field: &str,
    nearest: Option<&str>,
    known: &[String],
) -> String {
    let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    with_help(
        format!("`{contract}` has no field `{field}`"),
        match nearest {
            Some(nearest) => format!("did you mean `{{{nearest}}}`?"),
            None if known.is_empty() => "it has no fields: use a fixed key".to_owned(),
            None => format!("its fields are {}", list(&known, "and")),
        },
    )
}

pub(crate) fn template_on_enum(contract: &str) -> String {
    with_help(
        format!("a key with a field needs a struct, and `{contract}` is an enum"),
        "use a fixed key, or wrap the enum in a struct that has the field",
    )
}

pub(crate) fn template_of_generic_contract() -> String {
    with_help(
        "a key with a field needs one concrete contract, and this block is generic over its contract",
        "use a fixed key, or write one `impl JobHandler` block per job",
    )
}

// `#[derive(Job)]` (R7).

pub(crate) fn derive_on(what: &str) -> String {
    with_help(
        format!("`#[derive(Job)]` cannot go on {what}"),
        "derive it on a struct or an enum",
    )
}

pub(crate) fn derive_on_generic(name: &str) -> String {
    with_help(
        "`#[derive(Job)]` cannot go on a generic type: a job is stored under one name and found by one concrete type",
        format!("wrap it: `struct {name}Job({name}<…>);`"),
    )
}

pub(crate) fn job_on_field() -> String {
    with_help(
        "`#[job]` describes the job, not a part of it",
        "move it to the type",
    )
}

pub(crate) fn job_name(argument: &str, reason: impl Display) -> String {
    with_help(
        format!("`{argument}` {reason}"),
        format!("write `#[job({argument} = \"send-email\")]`"),
    )
}

pub(crate) fn job_alias_twice(alias: &str) -> String {
    with_help(
        format!("`{alias}` is already a name of this job"),
        "remove it",
    )
}
