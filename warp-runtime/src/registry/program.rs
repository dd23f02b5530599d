//! All declarations of the program, and whether they can be relied on (R5, R33).

use std::any::TypeId;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::OnceLock;

use warp_policy::declaration::Declared;

use super::{Item, Policy, Registration, RegistryError, RegistryErrors};

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
    /// Every policy by its address.
    known: HashSet<usize>,
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

impl Used {
    /// What its jobs follow without explicit parameters: the handler's policies of a family, else the contract's (R20).
    pub(crate) fn policies(&self) -> impl Iterator<Item = Policy> {
        let [handler, contract] = [&self.on_handler, &self.on_contract];
        let limits_rates = handler.rate_limits().next().is_some();
        let rate_limits = if limits_rates { handler } else { contract };
        policies(&Declared {
            concurrency: handler.concurrency.or(contract.concurrency),
            rate_limits: rate_limits.rate_limits,
        })
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
        let known = registrations
            .iter()
            .map(|registration| registration.policy.address())
            .collect();
        Self {
            registrations,
            contracts,
            known,
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
        let carried: HashSet<usize> = policies(carried).map(|policy| policy.address()).collect();
        for policy in registered.filter(|policy| !carried.contains(&policy.address())) {
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
            if !self.known.contains(&policy.address()) {
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

fn policies(declared: &Declared) -> impl Iterator<Item = Policy> + use<> {
    let declared = *declared;
    declared
        .concurrency
        .map(Policy::Concurrency)
        .into_iter()
        .chain(declared.rate_limits().map(Policy::RateLimit))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use warp_policy::Mode;
    use warp_policy::declaration::{ConcurrencyDeclaration, KeyDeclaration, Site};

    pub(in super::super) struct Contract;
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
