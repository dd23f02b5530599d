//! The core runs outside the compiler here, so that it can be fed what no parser would let through (S23).

mod random;
mod snapshots;

use proc_macro2::TokenStream;

use super::expand;
use crate::policy::Kind;

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
