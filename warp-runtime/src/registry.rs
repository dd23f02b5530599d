//! The declarations of the program, collected from `inventory` (R5).
//!
//! # Linking
//!
//! What is registered is what is linked, in debug and release builds and with LTO alike. A linker leaves out a crate that the program nowhere
//! names: its jobs and their policies are then missing without a word. A program that names any item of the crate has all of it, and one that
//! needs none writes `use the_crate as _;`. That holds for each binary by itself: a test binary under `tests/` has to name the crate too, and
//! the tests inside a crate see the jobs of the crates below it, not of those above.
//!
//! Nothing runs without its policy for that: a worker runs only jobs whose types its program names, and building it compares what these types
//! carry with the registry. [`Registry::expect`] makes sure at start-up that jobs are there, by name:
//!
//! ```standalone_crate
//! use warp_runtime::prelude::*;
//! use warp_runtime::registry;
//!
//! #[mutex("payment")]
//! #[derive(Serialize, Deserialize, Job)]
//! struct Payment;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! registry().expect(["Payment"])?;
//! assert!(registry().expect(["Payment", "Refund"]).is_err());
//! # Ok(()) }
//! ```
//!
//! # Review
//!
//! [`assert_policies!`](crate::assert_policies) is a test of all of it in one line. [`Registry::to_json`] and [`Registry::to_markdown`] write
//! down what the program declares, sorted: kept in a file, a change of a limit shows in the review of a pull request.

mod conflicts;
mod errors;
mod manifest;
mod program;
mod report;
mod used;

use std::any::TypeId;

use warp_policy::Mode;
use warp_policy::declaration::{
    ConcurrencyDeclaration, Declared, KeyDeclaration, RateLimitDeclaration, Site,
};

pub use self::conflicts::Conflict;
pub use self::errors::{RegistryError, RegistryErrors};
pub use self::program::{Registry, registry};
pub use self::report::Report;
pub use self::used::Used;
use crate::contract::Job;

/// One policy on one item, as generated code submits it.
#[derive(Clone, Copy, Debug)]
pub struct Registration {
    /// The item that carries the attribute.
    pub item: Item,
    /// The policy.
    pub policy: Policy,
}

/// The item that carries an attribute (R4).
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "generated code builds it; both sides are released in lockstep"
)]
pub enum Item {
    /// A contract. Contracts are concrete, hence found by their type.
    Contract {
        /// Its type.
        type_id: TypeId,
        /// Its type's name.
        type_name: fn() -> &'static str,
    },
    /// An `impl` block of a handler, which may be generic, hence named as written.
    Handler {
        /// The handler's type.
        handler: &'static str,
        /// The contract's type.
        contract: &'static str,
    },
}

impl Item {
    /// Its type, a handler's as written.
    fn name(&self) -> &'static str {
        match self {
            Self::Contract { type_name, .. } => type_name(),
            Self::Handler { handler, .. } => handler,
        }
    }

    /// The contract `T`.
    pub const fn contract<T: 'static>() -> Self {
        Self::Contract {
            type_id: TypeId::of::<T>(),
            type_name: std::any::type_name::<T>,
        }
    }
}

/// A policy of any family.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "generated code builds it; both sides are released in lockstep"
)]
pub enum Policy {
    /// `#[mutex]` or `#[semaphore]`.
    Concurrency(&'static ConcurrencyDeclaration),
    /// `#[rate_limit]`.
    RateLimit(&'static RateLimitDeclaration),
}

/// A job with `#[derive(Job)]`, as generated code submits it.
#[derive(Clone, Copy, Debug)]
pub struct JobRegistration {
    /// The job.
    pub contract: Contract,
    /// Where its type stands.
    pub site: Site,
}

/// A contract without its type.
#[derive(Clone, Copy, Debug)]
pub struct Contract {
    type_id: TypeId,
    type_name: fn() -> &'static str,
    declared: fn() -> Declared,
    name: &'static str,
    aliases: &'static [&'static str],
}

impl Contract {
    /// The job `J`.
    pub const fn of<J: Job>() -> Self {
        Self {
            type_id: TypeId::of::<J>(),
            type_name: std::any::type_name::<J>,
            declared: || J::__WARP_DECLARED,
            name: J::NAME,
            aliases: J::ALIASES,
        }
    }

    /// The names under which its jobs are stored, the present one first (R7).
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

inventory::collect!(Registration);
inventory::collect!(JobRegistration);

impl Policy {
    pub(crate) fn key(&self) -> &'static KeyDeclaration {
        match self {
            Self::Concurrency(policy) => policy.key(),
            Self::RateLimit(policy) => policy.key(),
        }
    }

    pub(crate) fn site(&self) -> Site {
        match self {
            Self::Concurrency(policy) => policy.site(),
            Self::RateLimit(policy) => policy.site(),
        }
    }

    /// The policy as the attribute that declares it would be called.
    const fn attribute(&self) -> &'static str {
        match self {
            Self::Concurrency(policy) if policy.limit() == 1 => "mutex",
            Self::Concurrency(_) => "semaphore",
            Self::RateLimit(_) => "rate_limit",
        }
    }

    const fn mode(&self) -> Mode {
        match self {
            Self::Concurrency(policy) => policy.mode(),
            Self::RateLimit(policy) => policy.mode(),
        }
    }

    /// What tells it from every other one: where its static lies.
    fn address(&self) -> usize {
        match self {
            Self::Concurrency(policy) => std::ptr::from_ref(*policy).addr(),
            Self::RateLimit(policy) => std::ptr::from_ref(*policy).addr(),
        }
    }
}
