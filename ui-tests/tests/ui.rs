//! What compiles, and what must not: one mistake a file.
//!
//! `TRYBUILD=overwrite cargo test -p warp-ui-tests` rewrites the messages; read the difference. `cargo test -p warp-ui-tests -- fail
//! trybuild=mutex` runs the cases with `mutex` in their path.

/// Each case runs: it asserts on what its attributes left in the program.
#[test]
fn pass() {
    trybuild::TestCases::new().pass("pass/*/*.rs");
}

/// Our text, steady across compilers.
#[test]
fn fail_with_our_text() {
    trybuild::TestCases::new().compile_fail("fail/authored/*/*.rs");
}

/// The compiler's text, true for the pinned toolchain only.
#[test]
fn fail_with_the_text_of_the_compiler() {
    trybuild::TestCases::new().compile_fail("fail/typeck/*.rs");
}
