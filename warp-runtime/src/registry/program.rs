//! All declarations of the program, and whether they can be relied on (R5, R33).

use std::any::TypeId;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::OnceLock;

use thiserror::Error;
use warp_policy::declaration::{Declared, KeyDeclaration, Site};

use super::{Item, Policy, Registration};

/// The declarations of this program.
pub fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| Registry::new(inventory::iter::<Registration>().copied()))
}

/// A set of declarations, in the order of their places in the source.
#[derive(Debug)]
pub struct Registry {
    registrations: Vec<Registration>,
    contracts: HashMap<TypeId, Vec<Policy>>,
}

/// A contract with its handler, as a worker uses them.
#[derive(Clone, Debug)]
pub struct Used {
    /// The contract's type.
    pub contract: TypeId,
    /// The contract's type, for messages.
    pub contract_name: &'static str,
    /// The handler's type, for messages.
    pub handler_name: &'static str,
    /// The stored name, then the older ones.
    pub names: Vec<&'static str>,
    /// What the contract's type carries.
    pub on_contract: Declared,
    /// What the handler's type carries.
    pub on_handler: Declared,
}

/// Why the declarations of a program cannot be relied on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// Two contracts have one stored name (R7).
    #[error(
        "`{first}` and `{second}` are both stored as `{name}`; rename one with `#[job(name = \"…\")]`"
    )]
    NameTaken {
        /// The name.
        name: &'static str,
        /// One contract.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// A policy stands on a type, and the registry does not know it (R5).
    #[error(
        "the policy of `{on}` at {site} did not reach the registry, so that others could not see it; is the crate linked?"
    )]
    NotRegistered {
        /// The contract or handler.
        on: &'static str,
        /// Where the attribute stands.
        site: Site,
    },
    /// The registry has a policy for a contract, and its type does not carry it (R5).
    #[error(
        "the policy at {site} is not part of the contract `{on}`; implement `Job` with `#[derive(Job)]`"
    )]
    NotCarried {
        /// The contract.
        on: &'static str,
        /// Where the attribute stands.
        site: Site,
    },
}

/// Every reason at once.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct RegistryErrors(pub Vec<RegistryError>);

impl fmt::Display for RegistryErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the declarations of this program cannot be relied on:")?;
        self.0.iter().try_for_each(|error| write!(f, "\n- {error}"))
    }
}

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
    /// A registry of these declarations, whatever order they come in.
    pub fn new(registrations: impl IntoIterator<Item = Registration>) -> Self {
        let mut registrations: Vec<Registration> = registrations.into_iter().collect();
        registrations.sort_by_key(|registration| {
            (registration.policy.site(), registration.policy.key().text())
        });
        let mut contracts: HashMap<TypeId, Vec<Policy>> = HashMap::new();
        for registration in &registrations {
            if let Item::Contract { type_id, .. } = registration.item {
                contracts
                    .entry(type_id())
                    .or_default()
                    .push(registration.policy);
            }
        }
        Self {
            registrations,
            contracts,
        }
    }

    /// Every declaration.
    pub fn registrations(&self) -> &[Registration] {
        &self.registrations
    }

    /// Holds what the types carry against what is registered (R5), and checks that no name stands for two contracts (R7).
    ///
    /// # Errors
    /// Every problem at once.
    pub fn verify(&self, used: &[Used]) -> Result<(), RegistryErrors> {
        let mut errors = Vec::new();
        let mut names: BTreeMap<&str, &Used> = BTreeMap::new();
        for one in used {
            for &name in &one.names {
                let owner = names.entry(name).or_insert(one);
                if owner.contract != one.contract {
                    let (first, second) = (owner.contract_name, one.contract_name);
                    errors.push(RegistryError::NameTaken {
                        name,
                        first,
                        second,
                    });
                }
            }
            self.verify_contract(
                one.contract,
                one.contract_name,
                &one.on_contract,
                &mut errors,
            );
            self.verify_registered(one.handler_name, &one.on_handler, &mut errors);
        }
        if errors.is_empty() {
            Ok(())
        } else {
            Err(RegistryErrors(errors))
        }
    }

    /// Holds what a contract's type carries against what is registered for it.
    pub(crate) fn verify_contract(
        &self,
        contract: TypeId,
        on: &'static str,
        carried: &Declared,
        errors: &mut Vec<RegistryError>,
    ) {
        self.verify_registered(on, carried, errors);
        let registered = self.contracts.get(&contract).into_iter().flatten();
        for policy in
            registered.filter(|policy| !policies(carried).any(|carried| carried.is_same(policy)))
        {
            errors.push(RegistryError::NotCarried {
                on,
                site: policy.site(),
            });
        }
    }

    fn verify_registered(
        &self,
        on: &'static str,
        carried: &Declared,
        errors: &mut Vec<RegistryError>,
    ) {
        for policy in policies(carried) {
            if !self
                .registrations
                .iter()
                .any(|registration| registration.policy.is_same(&policy))
            {
                errors.push(RegistryError::NotRegistered {
                    on,
                    site: policy.site(),
                });
            }
        }
    }

    /// Declarations that give one key different sizes (R33). A handler that replaces its own contract's policy is none.
    pub fn conflicts(&self) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        for (index, &second) in self.registrations.iter().enumerate() {
            for &first in &self.registrations[..index] {
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

    /// Contracts with policies that no handler of a worker takes. No error: another worker may have it (R5).
    pub fn unhandled(&self, used: &[Used]) -> Vec<&'static str> {
        let mut names: Vec<&'static str> = self
            .registrations
            .iter()
            .filter_map(|registration| match registration.item {
                Item::Contract { type_id, type_name }
                    if !used.iter().any(|one| one.contract == type_id()) =>
                {
                    Some(type_name())
                }
                _ => None,
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// Whether the policy on `handler` replaces the one on `contract`. Types are compared by their last names: that is all that is known of
/// the contract in a generic `impl`.
fn replaces(handler: &Item, contract: &Item) -> bool {
    let last = |name: &str| name.rsplit("::").next().unwrap_or(name).trim().to_owned();
    match (handler, contract) {
        (Item::Handler { contract, .. }, Item::Contract { type_name, .. }) => {
            last(contract) == last(type_name())
        }
        _ => false,
    }
}

fn policies(declared: &Declared) -> impl Iterator<Item = Policy> {
    declared
        .concurrency
        .map(Policy::Concurrency)
        .into_iter()
        .chain(declared.rate_limits().map(Policy::RateLimit))
}

impl Policy {
    fn key(&self) -> &'static KeyDeclaration {
        match self {
            Self::Concurrency(policy) => policy.key(),
            Self::RateLimit(policy) => policy.key(),
        }
    }

    fn site(&self) -> Site {
        match self {
            Self::Concurrency(policy) => policy.site(),
            Self::RateLimit(policy) => policy.site(),
        }
    }

    fn size(&self) -> String {
        match self {
            Self::Concurrency(policy) => format!("{} slots", policy.limit()),
            Self::RateLimit(policy) => {
                let window = std::time::Duration::from_micros(policy.window_micros());
                format!("{} per {window:?} ({})", policy.count(), policy.style())
            }
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Concurrency(one), Self::Concurrency(other)) => std::ptr::eq(*one, *other),
            (Self::RateLimit(one), Self::RateLimit(other)) => std::ptr::eq(*one, *other),
            _ => false,
        }
    }

    fn differs_in_size(&self, other: &Self) -> bool {
        let is_one_key = self.key().text() == other.key().text();
        match (self, other) {
            (Self::Concurrency(one), Self::Concurrency(other)) => {
                is_one_key && one.limit() != other.limit()
            }
            (Self::RateLimit(one), Self::RateLimit(other)) => {
                let size = |policy: &warp_policy::declaration::RateLimitDeclaration| {
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
    use super::*;
    use warp_policy::Mode;
    use warp_policy::declaration::ConcurrencyDeclaration;

    struct Contract;
    struct Other;

    static THREE: ConcurrencyDeclaration = ConcurrencyDeclaration::new(
        KeyDeclaration::Fixed("api"),
        3,
        Mode::Wait,
        Site {
            file: "a.rs",
            line: 1,
        },
    );
    static FIVE: ConcurrencyDeclaration = ConcurrencyDeclaration::new(
        KeyDeclaration::Fixed("api"),
        5,
        Mode::Wait,
        Site {
            file: "b.rs",
            line: 2,
        },
    );

    fn used<C: 'static>(
        on_contract: Option<&'static ConcurrencyDeclaration>,
        name: &'static str,
    ) -> Used {
        Used {
            contract: TypeId::of::<C>(),
            contract_name: std::any::type_name::<C>(),
            handler_name: "Handler",
            names: vec![name],
            on_contract: Declared {
                concurrency: on_contract,
                ..Declared::NONE
            },
            on_handler: Declared::NONE,
        }
    }

    fn on_contract<C: 'static>(policy: &'static ConcurrencyDeclaration) -> Registration {
        Registration {
            item: Item::contract::<C>(),
            policy: Policy::Concurrency(policy),
        }
    }

    /// R5: a policy that only the type carries, and one that only the registry has, are both errors.
    #[test]
    fn type_and_registry_must_agree() {
        let empty = Registry::new([]);
        let errors = empty
            .verify(&[used::<Contract>(Some(&THREE), "c")])
            .unwrap_err()
            .0;
        assert!(
            matches!(errors[..], [RegistryError::NotRegistered { .. }]),
            "{errors:?}"
        );

        let registry = Registry::new([on_contract::<Contract>(&THREE)]);
        let errors = registry
            .verify(&[used::<Contract>(None, "c")])
            .unwrap_err()
            .0;
        assert!(
            matches!(errors[..], [RegistryError::NotCarried { .. }]),
            "{errors:?}"
        );

        assert_eq!(
            registry.verify(&[used::<Contract>(Some(&THREE), "c")]),
            Ok(())
        );
        assert_eq!(
            registry.verify(&[used::<Other>(None, "o")]),
            Ok(()),
            "declarations that are not used are no error"
        );
    }

    /// R5: the same holds for handlers.
    #[test]
    fn a_handler_whose_declaration_is_missing_is_an_error() {
        let mut one = used::<Contract>(None, "c");
        one.on_handler.concurrency = Some(&FIVE);
        let errors = Registry::new([]).verify(&[one]).unwrap_err();
        assert!(
            errors.to_string().contains("`Handler` at b.rs:2"),
            "{errors}"
        );
    }

    /// R7: one name for two contracts, also by an alias; all problems are reported at once.
    #[test]
    fn a_name_for_two_contracts_is_an_error() {
        let mut second = used::<Other>(Some(&FIVE), "new");
        second.names.push("c");
        let errors = Registry::new([])
            .verify(&[used::<Contract>(Some(&THREE), "c"), second])
            .unwrap_err()
            .0;
        assert_eq!(errors.len(), 3, "{errors:?}");
        assert!(
            errors
                .iter()
                .any(|error| matches!(error, RegistryError::NameTaken { name: "c", .. }))
        );
    }

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
        assert!(Registry::new([first, replacing]).conflicts().is_empty());
        assert_eq!(
            Registry::new([on_contract::<Other>(&THREE), replacing])
                .conflicts()
                .len(),
            1
        );
    }

    /// R5: a contract that nobody takes is told, not refused.
    #[test]
    fn a_declared_contract_without_a_handler_is_told() {
        let registry = Registry::new([on_contract::<Contract>(&THREE)]);
        assert_eq!(registry.unhandled(&[]), [std::any::type_name::<Contract>()]);
        assert!(
            registry
                .unhandled(&[used::<Contract>(Some(&THREE), "c")])
                .is_empty()
        );
    }
}
