//! S18: the case of `pass/` that is about lints, compiled once more where Clippy sees it.

#[path = "../pass/hygiene/expansion_is_lint_clean.rs"]
pub mod expansion_is_lint_clean;

#[test]
fn it_also_runs() {
    expansion_is_lint_clean::main();
}
