//! Everything that is to be said about the declarations of a program, at once.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use warp_policy::concurrency::check_limit;
use warp_policy::declaration::{KeyDeclaration, Site};
use warp_policy::rate_limit::{check_count, check_stack};
use warp_policy::{Key, PolicyError, Window};

use super::program::taken_names;
use super::{Conflict, Contract, Item, Policy, Registry, RegistryError, Used};

/// Everything that is to be said about the declarations of a program.
#[derive(Debug)]
#[non_exhaustive]
pub struct Report {
    /// What cannot be relied on.
    pub errors: Vec<RegistryError>,
    /// One key with different sizes: legal, and mostly a mistake (R33).
    pub conflicts: Vec<Conflict>,
    /// Contracts with policies that none of the handlers takes: a warning, since another program may have it.
    pub unhandled: Vec<&'static str>,
}

impl Registry {
    /// Holds all declarations of the program to the rules (R5, R7, R33), and `used` contracts with their handlers to the same. Where nothing
    /// is used, nothing is said about handlers.
    pub fn verify(&self, used: &[Used]) -> Report {
        let mut seen = HashSet::new();
        let jobs = self.jobs().iter().map(|job| &job.contract);
        let contracts: Vec<&Contract> = jobs
            .chain(used.iter().map(|one| &one.contract))
            .filter(|contract| seen.insert(contract.type_id))
            .collect();
        let mut errors = taken_names(contracts.iter().copied());
        for contract in contracts {
            self.verify_contract(contract, &mut errors);
        }
        for one in used {
            self.verify_registered(one.handler_name, &one.on_handler, &mut errors);
        }
        errors.extend(self.never_admitting());
        Report {
            errors,
            conflicts: self.conflicts(),
            unhandled: if used.is_empty() {
                Vec::new()
            } else {
                self.unhandled(used)
            },
        }
    }

    fn never_admitting(&self) -> Vec<RegistryError> {
        let mut errors = Vec::new();
        let mut rate_keys: BTreeMap<(&str, &str), (Site, Vec<&str>)> = BTreeMap::new();
        for registration in self.registrations() {
            let (on, policy) = (registration.item.name(), registration.policy);
            let site = policy.site();
            if let Err(source) = policy.check() {
                errors.push(RegistryError::NeverAdmits { on, site, source });
            }
            if let Policy::RateLimit(_) = policy {
                let contract = match registration.item {
                    Item::Contract { .. } => "",
                    Item::Handler { contract, .. } => contract,
                };
                let (_, keys) = rate_keys
                    .entry((on, contract))
                    .or_insert((site, Vec::new()));
                keys.push(policy.key().text());
            }
        }
        for ((on, _), (site, keys)) in rate_keys {
            if let Err(source) = check_stack(keys) {
                errors.push(RegistryError::NeverAdmits { on, site, source });
            }
        }
        errors
    }
}

impl Policy {
    /// Holds the values to their caps (R16, R17).
    fn check(&self) -> Result<(), PolicyError> {
        if let KeyDeclaration::Fixed(text) = self.key() {
            Key::rendered(text)?;
        }
        match self {
            Self::Concurrency(policy) => check_limit(policy.limit().into()).map(drop),
            Self::RateLimit(policy) => {
                check_count(policy.count().into(), policy.style())?;
                Window::try_from(policy.window_micros()).map(drop)
            }
        }
    }
}

impl Report {
    /// Whether there is nothing to say but warnings.
    pub fn is_clean(&self) -> bool {
        self.errors.is_empty() && self.conflicts.is_empty()
    }

    /// Ends a test with everything there is to say, warnings included, unless it [is clean](Self::is_clean); warnings alone are printed.
    ///
    /// # Panics
    /// Unless it is clean.
    #[track_caller]
    #[expect(clippy::print_stderr, reason = "the way of a test")]
    pub fn assert(&self) {
        assert!(self.is_clean(), "{self}");
        if !self.unhandled.is_empty() {
            eprintln!("{self}");
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the declarations of this program:")?;
        for error in &self.errors {
            write!(f, "\n- {error}")?;
        }
        for conflict in &self.conflicts {
            write!(f, "\n- {conflict}")?;
        }
        for contract in &self.unhandled {
            write!(
                f,
                "\n- warning: no handler takes `{contract}`, which has a policy"
            )?;
        }
        Ok(())
    }
}

/// Asserts, in one line of a test, that all declarations of the program can be relied on: no name for two jobs (R7), no key with different
/// sizes (R33), no policy that the registry or the type does not know (R5), none that could never admit. All problems are told at once.
///
/// With the handlers of the program it holds their declarations to the same, and warns of contracts that have a policy and no handler.
///
/// ```standalone_crate
/// use warp_runtime::assert_policies;
/// use warp_runtime::prelude::*;
///
/// #[mutex("payment")]
/// #[derive(Serialize, Deserialize, Job)]
/// struct Payment;
///
/// struct Payments;
///
/// impl JobHandler<Payment> for Payments {
///     async fn handle(&self, _job: Payment, _ctx: &JobContext) -> JobResult {
///         Ok(())
///     }
/// }
///
/// assert_policies!();
/// assert_policies!(Payment => Payments);
/// ```
///
/// Where one key is to have different sizes, look at [`Registry::verify`](crate::registry::Registry::verify) instead.
///
/// # Panics
/// Where there is a problem.
#[macro_export]
macro_rules! assert_policies {
    ($($job:ty => $handler:ty),* $(,)?) => {
        $crate::registry()
            .verify(&[$($crate::__private::Used::of::<$job, $handler>()),*])
            .assert()
    };
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use warp_policy::declaration::{ConcurrencyDeclaration, RateLimitDeclaration};
    use warp_policy::{Mode, Style};

    use super::super::program::tests::{
        FIVE, Other, Small, THREE, contract, five, none, on_contract, three,
    };
    use super::super::{JobRegistration, Registration};
    use super::*;

    const SITE: Site = Site {
        file: "jobs.rs",
        line: 3,
    };

    fn job(contract: Contract) -> JobRegistration {
        JobRegistration {
            contract,
            site: SITE,
        }
    }

    /// R5, R7, R33: every kind of problem, all at once, each once, used or not.
    #[test]
    fn all_problems_are_told_at_once() {
        struct Lost;
        static LOST: ConcurrencyDeclaration =
            ConcurrencyDeclaration::new(KeyDeclaration::Fixed("lost"), 1, Mode::Wait, SITE);
        let small = contract::<Small>(three, "small", &[]);
        let other = contract::<Other>(five, "other", &["small"]);
        let registry = Registry::new(
            [
                on_contract::<Small>(&THREE),
                on_contract::<Other>(&FIVE),
                on_contract::<Lost>(&LOST),
            ],
            [
                job(small),
                job(other),
                job(contract::<Lost>(none, "lost", &[])),
            ],
        );
        let used = Used {
            contract: small,
            handler_name: "Handler",
            on_handler: none(),
        };
        let report = registry.verify(&[used]);
        let text = report.to_string();
        for part in [
            "are both stored as `small`",
            "is not part of the contract `warp_runtime::registry::report::tests::all_problems_are_told_at_once::Lost`",
            "the key `api` has different sizes: 3 slots at a.rs:1, 5 slots at b.rs:2",
            "warning: no handler takes `warp_runtime::registry::program::tests::Other`",
        ] {
            assert_eq!(text.matches(part).count(), 1, "{part}\n{text}");
        }
        assert!(!report.is_clean());
    }

    /// R5: a handler's declaration that the registry does not know.
    #[test]
    fn a_handler_whose_declaration_is_missing_is_told() {
        let used = Used {
            contract: contract::<Small>(none, "small", &[]),
            handler_name: "Handler",
            on_handler: five(),
        };
        let report = Registry::new([], []).verify(&[used]);
        assert!(
            matches!(
                report.errors[..],
                [RegistryError::NotRegistered { on: "Handler", .. }]
            ),
            "{report}"
        );
    }

    /// R16, R17: what no attribute would have let through.
    #[test]
    fn a_policy_that_never_admits_is_told() {
        const fn rate(key: &'static str, count: u32, window: Duration) -> RateLimitDeclaration {
            let micros = window.as_secs() * 1_000_000;
            let key = KeyDeclaration::Fixed(key);
            RateLimitDeclaration::new(key, count, micros, Mode::Skip, Style::Sliding, SITE)
        }
        static NO_SLOTS: ConcurrencyDeclaration =
            ConcurrencyDeclaration::new(KeyDeclaration::Fixed("k"), 0, Mode::Wait, SITE);
        static NO_KEY: ConcurrencyDeclaration =
            ConcurrencyDeclaration::new(KeyDeclaration::Fixed(""), 1, Mode::Wait, SITE);
        static TOO_MANY: RateLimitDeclaration = rate("many", 10_001, Duration::from_secs(1));
        static NO_WINDOW: RateLimitDeclaration = rate("none", 1, Duration::ZERO);
        static FINE: RateLimitDeclaration = rate("none", 1, Duration::from_secs(1));

        let item = Item::contract::<Small>();
        let policies = [
            Policy::Concurrency(&NO_SLOTS),
            Policy::Concurrency(&NO_KEY),
            Policy::RateLimit(&TOO_MANY),
            Policy::RateLimit(&NO_WINDOW),
            Policy::RateLimit(&FINE),
        ];
        let registry = Registry::new(policies.map(|policy| Registration { item, policy }), []);
        let text = registry.verify(&[]).to_string();
        for part in [
            "`limit` must be at least 1",
            "the key is empty",
            "`count` must be at most 10000",
            "`per` must be greater than zero",
            "two rate limits with the key `none`",
        ] {
            assert_eq!(text.matches(part).count(), 1, "{part}\n{text}");
        }
        assert_eq!(
            text.matches("at jobs.rs:3 never admits").count(),
            5,
            "{text}"
        );
    }

    /// R5: declarations that nobody uses are no problem.
    #[test]
    fn a_program_in_order_is_clean() {
        let registry = Registry::new(
            [on_contract::<Small>(&THREE)],
            [job(contract::<Small>(three, "small", &["old"]))],
        );
        let report = registry.verify(&[]);
        assert!(report.is_clean() && report.unhandled.is_empty(), "{report}");
        report.assert();
    }
}
