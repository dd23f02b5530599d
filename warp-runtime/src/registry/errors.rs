//! Why the declarations of a program cannot be relied on.

use std::fmt;

use thiserror::Error;
use warp_policy::declaration::Site;

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
