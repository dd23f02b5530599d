//! The declarations of the program, collected from `inventory` (R5).

mod conflicts;
mod errors;
mod program;

use std::any::TypeId;

use warp_policy::declaration::{
    ConcurrencyDeclaration, KeyDeclaration, RateLimitDeclaration, Site,
};

pub use self::conflicts::Conflict;
pub use self::errors::{RegistryError, RegistryErrors};
pub use self::program::{Registry, Used, registry};

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
        type_id: fn() -> TypeId,
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
    /// The contract `T`.
    pub const fn contract<T: 'static>() -> Self {
        Self::Contract {
            type_id: TypeId::of::<T>,
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

inventory::collect!(Registration);

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

    /// What tells it from every other one: where its static lies.
    fn address(&self) -> usize {
        match self {
            Self::Concurrency(policy) => std::ptr::from_ref(*policy).addr(),
            Self::RateLimit(policy) => std::ptr::from_ref(*policy).addr(),
        }
    }
}
