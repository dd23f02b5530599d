//! What a program declares, written down for a review.

use std::fmt::Write;

use serde::Serialize;
use warp_policy::Style;

use super::{Item, Policy, Registry};

/// The whole registry.
#[derive(Serialize)]
struct Manifest {
    jobs: Vec<Job>,
    policies: Vec<Entry>,
}

#[derive(Serialize)]
struct Job {
    name: &'static str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    aliases: &'static [&'static str],
    r#type: &'static str,
    at: String,
}

#[derive(Serialize)]
struct Entry {
    attribute: &'static str,
    key: &'static str,
    #[serde(flatten)]
    size: Size,
    mode: &'static str,
    #[serde(flatten)]
    on: On,
    at: String,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Size {
    Slots {
        limit: u32,
    },
    Rate {
        count: u32,
        window_micros: u64,
        style: Style,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum On {
    Job {
        job: &'static str,
    },
    Handler {
        handler: &'static str,
        of: &'static str,
    },
}

impl Registry {
    /// All jobs and policies as JSON, in the order of their places in the source; the same for the same program.
    ///
    /// # Panics
    /// Never: it holds texts and numbers only.
    pub fn to_json(&self) -> String {
        #[expect(clippy::expect_used, reason = "texts and numbers have a JSON")]
        serde_json::to_string_pretty(&self.manifest()).expect("texts and numbers")
    }

    /// All policies as a table in Markdown, in the order of their places in the source.
    pub fn to_markdown(&self) -> String {
        let mut table = String::from(
            "| on | attribute | key | size | mode | at |\n|---|---|---|---|---|---|\n",
        );
        for registration in self.registrations() {
            let policy = registration.policy;
            let on = match registration.item {
                Item::Contract { type_name, .. } => format!("`{}`", type_name()),
                Item::Handler { handler, contract } => format!("`{handler}` for `{contract}`"),
            };
            // Writing into a string cannot fail.
            _ = writeln!(
                table,
                "| {} | `{}` | `{}` | {} | {} | {} |",
                cell(&on),
                policy.attribute(),
                cell(policy.key().text()),
                policy.size(),
                policy.mode(),
                policy.site()
            );
        }
        table
    }

    fn manifest(&self) -> Manifest {
        let jobs = self.jobs().iter().map(|job| Job {
            name: job.contract.name,
            aliases: job.contract.aliases,
            r#type: (job.contract.type_name)(),
            at: job.site.to_string(),
        });
        let policies = self.registrations().iter().map(|registration| Entry {
            attribute: registration.policy.attribute(),
            key: registration.policy.key().text(),
            size: match registration.policy {
                Policy::Concurrency(policy) => Size::Slots {
                    limit: policy.limit(),
                },
                Policy::RateLimit(policy) => Size::Rate {
                    count: policy.count(),
                    window_micros: policy.window_micros(),
                    style: policy.style(),
                },
            },
            mode: registration.policy.mode().as_str(),
            on: match registration.item {
                Item::Contract { type_name, .. } => On::Job { job: type_name() },
                Item::Handler { handler, contract } => On::Handler {
                    handler,
                    of: contract,
                },
            },
            at: registration.policy.site().to_string(),
        });
        Manifest {
            jobs: jobs.collect(),
            policies: policies.collect(),
        }
    }
}

/// A text that ends no cell: the `|` of `{email|hash}`.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use warp_policy::Mode;
    use warp_policy::declaration::{KeyDeclaration, RateLimitDeclaration, Site};

    use super::super::program::tests::{Small, THREE, contract, on_contract, three};
    use super::super::{JobRegistration, Registration};
    use super::*;

    fn registry() -> Registry {
        static RATE: RateLimitDeclaration = RateLimitDeclaration::new(
            KeyDeclaration::Template {
                text: "mail:{email|hash}",
                escapes: "",
                has_hashes: true,
                render: |_, _| None,
            },
            10,
            90_000_000,
            Mode::Skip,
            Style::TokenBucket,
            Site {
                file: "z.rs",
                line: 9,
            },
        );
        let on_handler = Registration {
            item: Item::Handler {
                handler: "Mailer<S>",
                contract: "jobs::Small",
            },
            policy: Policy::RateLimit(&RATE),
        };
        let site = Site {
            file: "jobs.rs",
            line: 3,
        };
        let contract = contract::<Small>(three, "small", &["old"]);
        Registry::new(
            [on_handler, on_contract::<Small>(&THREE)],
            [JobRegistration { contract, site }],
        )
    }

    /// R5: everything that a review looks at, sorted by its place.
    #[test]
    fn the_manifest_says_everything() {
        let json: serde_json::Value = serde_json::from_str(&registry().to_json()).expect("JSON");
        let small = "warp_runtime::registry::program::tests::Small";
        let expected = serde_json::json!({
            "jobs": [{ "name": "small", "aliases": ["old"], "type": small, "at": "jobs.rs:3" }],
            "policies": [
                { "attribute": "semaphore", "key": "api", "limit": 3, "mode": "wait", "job": small, "at": "a.rs:1" },
                {
                    "attribute": "rate_limit", "key": "mail:{email|hash}", "count": 10, "window_micros": 90_000_000,
                    "style": "token_bucket", "mode": "skip", "handler": "Mailer<S>", "of": "jobs::Small", "at": "z.rs:9",
                },
            ],
        });
        assert_eq!(json, expected);
    }

    /// R5: a table that stays one, whatever the keys hold.
    #[test]
    fn the_table_has_a_line_for_each_policy() {
        let table = registry().to_markdown();
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(
            lines[2..],
            [
                "| `warp_runtime::registry::program::tests::Small` | `semaphore` | `api` | 3 slots | wait | a.rs:1 |",
                "| `Mailer<S>` for `jobs::Small` | `rate_limit` | `mail:{email\\|hash}` | 10 per 90s (token_bucket) | skip | z.rs:9 |",
            ]
        );
    }
}
