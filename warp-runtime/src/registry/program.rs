//! All declarations of the program, and whether they can be relied on (R5, R33).

use std::any::TypeId;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use warp_policy::declaration::Declared;

use super::used::{Used, policies};
use super::{Contract, Item, JobRegistration, Policy, Registration, RegistryError, RegistryErrors};

/// The declarations of this program.
pub fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        let registrations = inventory::iter::<Registration>().copied();
        Registry::new(registrations, inventory::iter::<JobRegistration>().copied())
    })
}

/// A set of declarations, in the order of their places in the source.
#[derive(Debug)]
pub struct Registry {
    registrations: Vec<Registration>,
    jobs: Vec<JobRegistration>,
    policies_by_contract: HashMap<TypeId, Vec<Policy>>,
    /// Every policy by its address, ascending.
    known: Vec<usize>,
}

impl Registry {
    /// A registry of these declarations, whatever order they come in.
    pub fn new(
        registrations: impl IntoIterator<Item = Registration>,
        jobs: impl IntoIterator<Item = JobRegistration>,
    ) -> Self {
        let mut jobs: Vec<JobRegistration> = jobs.into_iter().collect();
        jobs.sort_by_key(|job| (job.site, job.contract.name));
        let mut registrations: Vec<Registration> = registrations.into_iter().collect();
        registrations.sort_by_key(|registration| {
            (registration.policy.site(), registration.policy.key().text())
        });
        let mut policies_by_contract: HashMap<TypeId, Vec<Policy>> = HashMap::new();
        for registration in &registrations {
            if let Item::Contract { type_id, .. } = registration.item {
                policies_by_contract
                    .entry(type_id)
                    .or_default()
                    .push(registration.policy);
            }
        }
        let mut known: Vec<usize> = registrations
            .iter()
            .map(|registration| registration.policy.address())
            .collect();
        known.sort_unstable();
        Self {
            registrations,
            jobs,
            policies_by_contract,
            known,
        }
    }

    /// Every policy.
    pub fn registrations(&self) -> &[Registration] {
        &self.registrations
    }

    /// Every job that derives `Job`, with policies or without.
    pub fn jobs(&self) -> &[JobRegistration] {
        &self.jobs
    }

    /// Checks at start-up that these jobs are part of the program, by their stored names (R5, R7). A crate that the binary nowhere names is
    /// not linked, and its jobs are missing without a word; see the [module](super) for what to do.
    ///
    /// # Errors
    /// Every name that no contract has.
    pub fn expect<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), RegistryErrors> {
        let known: HashSet<&str> = self
            .jobs
            .iter()
            .flat_map(|job| job.contract.names())
            .collect();
        let missing = names.into_iter().filter(|name| !known.contains(name));
        RegistryErrors::unless_empty(
            missing
                .map(|name| RegistryError::NotLinked {
                    name: name.to_owned(),
                })
                .collect(),
        )
    }

    /// Holds what the types carry against what is registered (R5), and checks that no name stands for two contracts (R7).
    ///
    /// # Errors
    /// Every problem at once.
    pub fn verify_used(&self, used: &[Used]) -> Result<(), RegistryErrors> {
        let mut errors = taken_names(used.iter().map(|one| &one.contract));
        for one in used {
            self.verify_contract(&one.contract, &mut errors);
            self.verify_registered(one.handler_name, &one.on_handler, &mut errors);
        }
        RegistryErrors::unless_empty(errors)
    }

    /// Holds what a contract's type carries against what is registered for it.
    pub(crate) fn verify_contract(&self, contract: &Contract, errors: &mut Vec<RegistryError>) {
        let (on, carried) = ((contract.type_name)(), (contract.declared)());
        self.verify_registered(on, &carried, errors);
        let registered = self.policies_by_contract.get(&contract.type_id);
        let carried: HashSet<usize> = policies(&carried).map(|policy| policy.address()).collect();
        for policy in registered.into_iter().flatten() {
            if !carried.contains(&policy.address()) {
                errors.push(RegistryError::NotCarried {
                    on,
                    site: policy.site(),
                });
            }
        }
    }

    pub(super) fn verify_registered(
        &self,
        on: &'static str,
        carried: &Declared,
        errors: &mut Vec<RegistryError>,
    ) {
        for policy in policies(carried) {
            if self.known.binary_search(&policy.address()).is_err() {
                errors.push(RegistryError::NotRegistered {
                    on,
                    site: policy.site(),
                });
            }
        }
    }

    /// Contracts with policies that no handler of a worker takes. No error: another worker may have it (R5).
    pub fn unhandled(&self, used: &[Used]) -> Vec<&'static str> {
        let mut names: Vec<&'static str> = self
            .registrations
            .iter()
            .filter_map(|registration| match registration.item {
                Item::Contract { type_id, type_name }
                    if !used.iter().any(|one| one.contract.type_id == type_id) =>
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

/// Names that several contracts have (R7).
pub(super) fn taken_names<'a>(
    contracts: impl IntoIterator<Item = &'a Contract>,
) -> Vec<RegistryError> {
    let mut owners: HashMap<&str, &Contract> = HashMap::new();
    let mut errors = Vec::new();
    for contract in contracts {
        for name in contract.names() {
            let owner = owners.entry(name).or_insert(contract);
            if owner.type_id != contract.type_id {
                errors.push(RegistryError::NameTaken {
                    name,
                    first: (owner.type_name)(),
                    second: (contract.type_name)(),
                });
            }
        }
    }
    errors
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use warp_policy::Mode;
    use warp_policy::declaration::{ConcurrencyDeclaration, KeyDeclaration, Site};

    pub(in super::super) struct Small;
    pub(in super::super) struct Other;

    pub(in super::super) static THREE: ConcurrencyDeclaration = ConcurrencyDeclaration::new(
        KeyDeclaration::Fixed("api"),
        3,
        Mode::Wait,
        Site {
            file: "a.rs",
            line: 1,
        },
    );
    pub(in super::super) static FIVE: ConcurrencyDeclaration = ConcurrencyDeclaration::new(
        KeyDeclaration::Fixed("api"),
        5,
        Mode::Wait,
        Site {
            file: "b.rs",
            line: 2,
        },
    );

    /// A contract that is stored under `name` and carries this policy.
    pub(in super::super) fn contract<C: 'static>(
        declared: fn() -> Declared,
        name: &'static str,
        aliases: &'static [&'static str],
    ) -> Contract {
        Contract {
            type_id: TypeId::of::<C>(),
            type_name: std::any::type_name::<C>,
            declared,
            name,
            aliases,
        }
    }

    pub(in super::super) fn none() -> Declared {
        Declared::NONE
    }

    pub(in super::super) fn three() -> Declared {
        Declared {
            concurrency: Some(&THREE),
            ..Declared::NONE
        }
    }

    pub(in super::super) fn five() -> Declared {
        Declared {
            concurrency: Some(&FIVE),
            ..Declared::NONE
        }
    }

    fn used<C: 'static>(declared: fn() -> Declared, name: &'static str) -> Used {
        Used {
            contract: contract::<C>(declared, name, &[]),
            handler_name: "Handler",
            on_handler: Declared::NONE,
        }
    }

    pub(in super::super) fn on_contract<C: 'static>(
        policy: &'static ConcurrencyDeclaration,
    ) -> Registration {
        Registration {
            item: Item::contract::<C>(),
            policy: Policy::Concurrency(policy),
        }
    }

    /// R5: a policy that only the type carries, and one that only the registry has, are both errors.
    #[test]
    fn type_and_registry_must_agree() {
        let empty = Registry::new([], []);
        let errors = empty
            .verify_used(&[used::<Small>(three, "c")])
            .unwrap_err()
            .0;
        assert!(
            matches!(errors[..], [RegistryError::NotRegistered { .. }]),
            "{errors:?}"
        );

        let registry = Registry::new([on_contract::<Small>(&THREE)], []);
        let errors = registry
            .verify_used(&[used::<Small>(none, "c")])
            .unwrap_err()
            .0;
        assert!(
            matches!(errors[..], [RegistryError::NotCarried { .. }]),
            "{errors:?}"
        );

        assert_eq!(registry.verify_used(&[used::<Small>(three, "c")]), Ok(()));
        assert_eq!(
            registry.verify_used(&[used::<Other>(none, "o")]),
            Ok(()),
            "declarations that are not used are no error"
        );
    }

    /// R5: the same holds for handlers.
    #[test]
    fn a_handler_whose_declaration_is_missing_is_an_error() {
        let mut one = used::<Small>(none, "c");
        one.on_handler.concurrency = Some(&FIVE);
        let errors = Registry::new([], []).verify_used(&[one]).unwrap_err();
        assert!(
            errors.to_string().contains("`Handler` at b.rs:2"),
            "{errors}"
        );
    }

    /// R7: one name for two contracts, also by an alias; all problems are reported at once.
    #[test]
    fn a_name_for_two_contracts_is_an_error() {
        let mut second = used::<Other>(five, "new");
        second.contract.aliases = &["c"];
        let errors = Registry::new([], [])
            .verify_used(&[used::<Small>(three, "c"), second])
            .unwrap_err()
            .0;
        assert_eq!(errors.len(), 3, "{errors:?}");
        assert!(
            errors
                .iter()
                .any(|error| matches!(error, RegistryError::NameTaken { name: "c", .. }))
        );
    }

    /// R5: a contract that nobody takes is told, not refused.
    #[test]
    fn a_declared_contract_without_a_handler_is_told() {
        let registry = Registry::new([on_contract::<Small>(&THREE)], []);
        assert_eq!(registry.unhandled(&[]), [std::any::type_name::<Small>()]);
        assert!(registry.unhandled(&[used::<Small>(three, "c")]).is_empty());
    }
}
