//! A contract with its handler.

use std::any::type_name;

use warp_policy::declaration::Declared;

use super::{Contract, Policy};
use crate::contract::Job;
use crate::handler::{JobHandler, declared};

/// A contract with its handler, as a worker uses them.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    /// The contract.
    pub contract: Contract,
    /// The handler's type, for messages.
    pub handler_name: &'static str,
    /// What the handler's type carries.
    pub on_handler: Declared,
}

impl Used {
    /// `J`, handled by `H`.
    pub fn of<J: Job, H: JobHandler<J>>() -> Self {
        Self {
            contract: Contract::of::<J>(),
            handler_name: type_name::<H>(),
            on_handler: declared::<J, H>(),
        }
    }

    /// What its jobs follow without explicit parameters: the handler's policies of a family, else the contract's (R20).
    pub(crate) fn policies(&self) -> impl Iterator<Item = Policy> {
        let (handler, contract) = (self.on_handler, (self.contract.declared)());
        let limits_rates = handler.rate_limits().next().is_some();
        let rate_limits = if limits_rates { handler } else { contract };
        policies(&Declared {
            concurrency: handler.concurrency.or(contract.concurrency),
            rate_limits: rate_limits.rate_limits,
        })
    }
}

/// The policies of a declaration.
pub(super) fn policies(declared: &Declared) -> impl Iterator<Item = Policy> + use<> {
    let declared = *declared;
    declared
        .concurrency
        .map(Policy::Concurrency)
        .into_iter()
        .chain(declared.rate_limits().map(Policy::RateLimit))
}
