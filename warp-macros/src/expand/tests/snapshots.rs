//! What the generated code looks like: for its review, one case for each attribute or rung. `WARP_SNAPSHOTS=overwrite` writes them anew.

use std::path::Path;
use std::{env, fs};

use proc_macro2::TokenStream;

use super::super::expand;
use crate::job;
use crate::policy::Kind;

#[test]
fn a_mutex_on_a_job() {
    let args = r#""mail:{tenant}/{address.email|hash}", mode = "wait""#;
    let item = "struct SendEmail { tenant: u32, address: Address }";
    assert_snapshot("mutex_on_a_job", expanded(Kind::Mutex, args, item));
}

#[test]
fn a_semaphore_on_a_handler() {
    let args = r#""smtp", limit = Self::SLOTS"#;
    let item = "impl JobHandler<SendEmail> for Mailer { }";
    assert_snapshot(
        "semaphore_on_a_handler",
        expanded(Kind::Semaphore, args, item),
    );
}

#[test]
fn a_rate_limit_on_a_job() {
    let args = r#""smtp", count = 10, per_seconds = WINDOW, style = "sliding", crate = ::jobs"#;
    let item = "struct SendEmail;";
    assert_snapshot("rate_limit_on_a_job", expanded(Kind::RateLimit, args, item));
}

#[test]
fn a_job() {
    let item =
        r#"#[job(name = "send-email", alias = "SendEmail")] struct SendEmail { to: String }"#;
    assert_snapshot("job", job::expand(tokens(item)));
}

fn expanded(kind: Kind, args: &str, item: &str) -> TokenStream {
    expand(kind, tokens(args), tokens(item))
}

fn tokens(source: &str) -> TokenStream {
    source.parse().expect("tokens")
}

fn assert_snapshot(name: &str, expanded: TokenStream) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src/expand/tests/snapshots")
        .join(name)
        .with_extension("txt");
    let code = prettyplease::unparse(&syn::parse2(expanded).expect("items"));
    if env::var("WARP_SNAPSHOTS").is_ok_and(|value| value == "overwrite") {
        fs::write(&path, &code).expect("a directory of snapshots");
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(code == expected, "{} has changed:\n{code}", path.display());
}
