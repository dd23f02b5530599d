//! S18: in the edition 2021, and where `::warp_runtime` is nobody.

#![deny(warnings, missing_docs, clippy::pedantic)]
#![forbid(unsafe_code)]

use jobs::prelude::*;
use warp_ui_tests::{concurrency, keys, on_contract, on_handler};

const SLOTS: u32 = 3;

#[semaphore("customer:{customer.id}:{gen}", limit = SLOTS, crate = ::jobs)]
#[rate_limit("mail:{email|hash}", count = Self::COUNT, per = "1m", crate = ::jobs)]
#[derive(Serialize, Deserialize, Job)]
#[job(name = "send-email", crate = ::jobs)]
struct SendEmail {
    customer: Customer,
    email: String,
    r#gen: u32,
}

impl SendEmail {
    const COUNT: u32 = 2;
}

#[derive(Serialize, Deserialize)]
struct Customer {
    id: u64,
}

/// `gen` is a word of a later edition.
#[mutex("{gen}", crate = ::jobs)]
#[derive(Serialize, Deserialize, Job)]
#[job(crate = ::jobs)]
struct Generation {
    gen: u32,
}

struct Mailer<'a, S>(S, &'a str);

#[mutex("smtp:{gen}", mode = "wait", crate = ::jobs)]
#[rate_limit("smtp", count = SLOTS, per_seconds = 60, crate = ::jobs)]
impl<S> JobHandler<Generation> for Mailer<'static, S>
where
    S: Send + Sync + 'static,
{
    async fn handle(&self, _job: Generation, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

/// A macro whose user knows neither the attribute nor the runtime.
macro_rules! job {
    ($(#[$attribute:meta])* $visibility:vis $name:ident, $key:literal, $limit:expr) => {
        $(#[$attribute])*
        #[semaphore($key, limit = $limit, crate = ::jobs)]
        #[derive(Serialize, Deserialize, Job)]
        #[job(crate = ::jobs)]
        $visibility struct $name;
    };
}
job!(
    /// Documented.
    pub(crate) Generated, "generated", 2 * SLOTS
);

/// S18, R5: type and registry agree, on both rungs.
#[test]
fn every_declaration_is_there() {
    assert_eq!(
        keys(&on_contract::<SendEmail>()),
        ["customer:{customer.id}:{gen}", "mail:{email|hash}"]
    );
    assert_eq!(concurrency(&on_contract::<Generated>()).limit(), 6);
    assert_eq!(keys(&on_contract::<Generation>()), ["{gen}"]);
    let handler = on_handler::<Generation, Mailer<'static, u8>>("Mailer<'static, S>", "Generation");
    assert_eq!(keys(&handler), ["smtp:{gen}", "smtp"]);
    let key = concurrency(&handler).spec(&Generation { gen: 7 });
    assert_eq!(
        key.map(|spec| spec.key().to_string()),
        Ok("smtp:7".to_owned())
    );
    let mailer = Mailer(1_u8, "ann");
    assert_eq!((mailer.0, mailer.1), (1, "ann"));
}

/// S21, R5: this file names nothing of the crate whose test it is, so the crate is not linked; asking for its jobs tells.
#[test]
fn a_crate_that_nobody_names_is_not_linked() {
    let error = jobs::registry().expect(["send-email", "linked"]);
    let text = error.expect_err("not linked").to_string();
    assert!(text.contains("no job is stored as `linked`"), "{text}");
    assert!(!text.contains("send-email"), "{text}");
}
