//! Declarations that give one key different sizes (R33).

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use warp_policy::declaration::RateLimitDeclaration;

use super::{Item, Policy, Registration, Registry};

/// Two declarations that give one key different sizes. Legal: each job is judged by its own (R33).
#[derive(Clone, Copy, Debug)]
pub struct Conflict {
    /// The earlier one in the source.
    pub first: Registration,
    /// The later one.
    pub second: Registration,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = [self.first.policy, self.second.policy];
        write!(
            f,
            "the key `{}` has different sizes: {} at {}, {} at {}",
            first.key().text(),
            first.size(),
            first.site(),
            second.size(),
            second.site()
        )
    }
}

impl Registry {
    /// Declarations that give one key different sizes (R33). A handler that replaces its own contract's policy is none.
    pub fn conflicts(&self) -> Vec<Conflict> {
        // A program of thousands of declarations has few for one key.
        let mut by_key: HashMap<&str, Vec<Registration>> = HashMap::new();
        let mut conflicts = Vec::new();
        for &second in self.registrations() {
            let same_key = by_key.entry(second.policy.key().text()).or_default();
            for &first in &*same_key {
                let differ = first.policy.differs_in_size(&second.policy);
                let is_replaced =
                    replaces(&first.item, &second.item) || replaces(&second.item, &first.item);
                if differ && !is_replaced {
                    conflicts.push(Conflict { first, second });
                }
            }
            same_key.push(second);
        }
        conflicts
    }
}

/// Whether the policy on `handler` replaces the one on `contract`. All that is known of the contract in a generic `impl` is how it is
/// written there: the end of its path.
fn replaces(handler: &Item, contract: &Item) -> bool {
    match (handler, contract) {
        (Item::Handler { contract, .. }, Item::Contract { type_name, .. }) => {
            let written = contract.rsplit("::").map(str::trim);
            let written = written.take_while(|name| !["crate", "self", "super", ""].contains(name));
            written
                .zip(type_name().rsplit("::"))
                .all(|(one, other)| one == other)
        }
        _ => false,
    }
}

impl Policy {
    /// The size in words.
    pub(super) fn size(&self) -> String {
        match self {
            Self::Concurrency(policy) => format!("{} slots", policy.limit()),
            Self::RateLimit(policy) => {
                let window = Duration::from_micros(policy.window_micros());
                format!("{} per {window:?} ({})", policy.count(), policy.style())
            }
        }
    }

    /// Whether two policies for one key and of one family differ in size.
    fn differs_in_size(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Concurrency(one), Self::Concurrency(other)) => one.limit() != other.limit(),
            (Self::RateLimit(one), Self::RateLimit(other)) => {
                let size = |policy: &RateLimitDeclaration| {
                    (policy.count(), policy.window_micros(), policy.style())
                };
                size(one) != size(other)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::program::tests::{FIVE, Other, Small, THREE, on_contract};
    use warp_policy::declaration::{ConcurrencyDeclaration, KeyDeclaration, Site};
    use warp_policy::{Mode, Style};

    use super::*;

    /// R31, R33: other keys are no conflict, nor is another family's key of the same name.
    #[test]
    fn only_one_key_of_one_family_is_compared() {
        static ANOTHER: ConcurrencyDeclaration =
            ConcurrencyDeclaration::new(KeyDeclaration::Fixed("another"), 7, Mode::Wait, SITE);
        static RATE: RateLimitDeclaration = RateLimitDeclaration::new(
            KeyDeclaration::Fixed("api"),
            7,
            1,
            Mode::Wait,
            Style::Fixed,
            SITE,
        );
        const SITE: Site = Site {
            file: "c.rs",
            line: 3,
        };
        let rate = Registration {
            item: Item::contract::<Other>(),
            policy: Policy::RateLimit(&RATE),
        };
        let registrations = [
            on_contract::<Small>(&THREE),
            on_contract::<Other>(&ANOTHER),
            rate,
        ];
        assert!(Registry::new(registrations, []).conflicts().is_empty());
    }

    /// R33: different sizes for one key are reported; a handler that replaces its own contract's policy is no conflict.
    #[test]
    fn conflicting_sizes_are_reported_whatever_the_order() {
        let [first, second] = [on_contract::<Small>(&THREE), on_contract::<Other>(&FIVE)];
        for registry in [
            Registry::new([first, second], []),
            Registry::new([second, first], []),
        ] {
            let conflicts = registry.conflicts();
            assert_eq!(conflicts.len(), 1);
            let text = conflicts[0].to_string();
            assert_eq!(
                text,
                "the key `api` has different sizes: 3 slots at a.rs:1, 5 slots at b.rs:2"
            );
        }
        let item = Item::Handler {
            handler: "Mailer",
            contract: "jobs::Small",
        };
        let replacing = Registration {
            item,
            policy: Policy::Concurrency(&FIVE),
        };
        assert_eq!(
            Registry::new([first, replacing], []).conflicts().len(),
            1,
            "a contract of another module"
        );
        let item = Item::Handler {
            handler: "Mailer",
            contract: "tests::Small",
        };
        let replacing = Registration {
            item,
            policy: Policy::Concurrency(&FIVE),
        };
        assert!(Registry::new([first, replacing], []).conflicts().is_empty());
        assert_eq!(
            Registry::new([on_contract::<Other>(&THREE), replacing], [])
                .conflicts()
                .len(),
            1
        );
    }
}
