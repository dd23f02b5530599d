//! Declarations that give one key different sizes (R33).

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
        let mut conflicts = Vec::new();
        for (index, &second) in self.registrations().iter().enumerate() {
            for &first in &self.registrations()[..index] {
                let differ = first.policy.differs_in_size(&second.policy);
                if differ
                    && !replaces(&first.item, &second.item)
                    && !replaces(&second.item, &first.item)
                {
                    conflicts.push(Conflict { first, second });
                }
            }
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
    fn size(&self) -> String {
        match self {
            Self::Concurrency(policy) => format!("{} slots", policy.limit()),
            Self::RateLimit(policy) => {
                let window = Duration::from_micros(policy.window_micros());
                format!("{} per {window:?} ({})", policy.count(), policy.style())
            }
        }
    }

    fn differs_in_size(&self, other: &Self) -> bool {
        let is_one_key = self.key().text() == other.key().text();
        match (self, other) {
            (Self::Concurrency(one), Self::Concurrency(other)) => {
                is_one_key && one.limit() != other.limit()
            }
            (Self::RateLimit(one), Self::RateLimit(other)) => {
                let size = |policy: &RateLimitDeclaration| {
                    (policy.count(), policy.window_micros(), policy.style())
                };
                is_one_key && size(one) != size(other)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::program::tests::{Contract, FIVE, Other, THREE, on_contract};
    use super::*;

    /// R33: different sizes for one key are reported; a handler that replaces its own contract's policy is no conflict.
    #[test]
    fn conflicting_sizes_are_reported_whatever_the_order() {
        let [first, second] = [on_contract::<Contract>(&THREE), on_contract::<Other>(&FIVE)];
        for registry in [
            Registry::new([first, second]),
            Registry::new([second, first]),
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
            contract: "jobs::Contract",
        };
        let replacing = Registration {
            item,
            policy: Policy::Concurrency(&FIVE),
        };
        assert_eq!(
            Registry::new([first, replacing]).conflicts().len(),
            1,
            "a contract of another module"
        );
        let item = Item::Handler {
            handler: "Mailer",
            contract: "tests::Contract",
        };
        let replacing = Registration {
            item,
            policy: Policy::Concurrency(&FIVE),
        };
        assert!(Registry::new([first, replacing]).conflicts().is_empty());
        assert_eq!(
            Registry::new([on_contract::<Other>(&THREE), replacing])
                .conflicts()
                .len(),
            1
        );
    }
}
