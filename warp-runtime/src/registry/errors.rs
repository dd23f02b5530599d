//! Why the declarations of a program cannot be relied on.

use std::fmt;

use thiserror::Error;
use warp_policy::PolicyError;
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
    /// A job that the program was expected to have is not in it (R5).
    #[error("no job is stored as `{name}`; is its crate linked? `use the_crate as _;` makes it so")]
    NotLinked {
        /// The stored name.
        name: String,
    },
    /// A policy that could never admit a job: it was not written by an attribute, which would have refused it (R16, R17).
    #[error("the policy of `{on}` at {site} never admits: {source}")]
    NeverAdmits {
        /// The contract or handler.
        on: &'static str,
        /// Where it is declared.
        site: Site,
        /// What is wrong with it.
        source: PolicyError,
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

impl RegistryErrors {
    pub(crate) fn unless_empty(errors: Vec<RegistryError>) -> Result<(), Self> {
        if errors.is_empty() {
            Ok(())
        } else {
            Err(Self(errors))
        }
    }
}

impl fmt::Display for RegistryErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the declarations of this program cannot be relied on:")?;
        self.0.iter().try_for_each(|error| write!(f, "\n- {error}"))
    }
}
