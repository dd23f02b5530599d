//! What the cases in `pass/` ask: what did the attributes of an item leave in the program?

#![expect(clippy::expect_used, reason = "a wrong answer ends the case")]

use std::any::TypeId;
use std::ptr;

use warp_runtime::__private::{
    ConcurrencyDeclaration, Declared, Item, Policy, RateLimitDeclaration, Registration, inventory,
};
use warp_runtime::{Job, JobHandler};

/// What the contract `J` declares.
///
/// # Panics
/// Unless its type and the registry agree (R5).
pub fn on_contract<J: Job>() -> Declared {
    let declared = J::__WARP_DECLARED;
    assert_registered(&declared, |item| match item {
        Item::Contract { type_id, .. } => *type_id == TypeId::of::<J>(),
        Item::Handler { .. } => false,
    });
    declared
}

/// What the handler `H`, written as `handler` and `contract`, declares.
///
/// # Panics
/// Unless its type and the registry agree (R5).
pub fn on_handler<J: Job, H: JobHandler<J>>(handler: &str, contract: &str) -> Declared {
    let declared = Declared {
        concurrency: H::__WARP_CONCURRENCY_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL,
        rate_limits: [
            H::__WARP_RATE_LIMIT_0_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL,
            H::__WARP_RATE_LIMIT_1_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL,
            H::__WARP_RATE_LIMIT_2_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL,
            H::__WARP_RATE_LIMIT_3_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL,
            H::__WARP_RATE_LIMIT_4_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL,
            H::__WARP_RATE_LIMIT_5_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL,
            H::__WARP_RATE_LIMIT_6_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL,
            H::__WARP_RATE_LIMIT_7_GOES_ON_A_JOB_OR_ITS_JOB_HANDLER_IMPL,
        ],
    };
    assert_registered(&declared, |item| match item {
        Item::Contract { .. } => false,
        Item::Handler {
            handler: written,
            contract: its_contract,
        } => (*written, *its_contract) == (handler, contract),
    });
    declared
}

/// The one `#[mutex]` or `#[semaphore]`.
///
/// # Panics
/// Where there is none.
pub fn concurrency(declared: &Declared) -> &'static ConcurrencyDeclaration {
    declared.concurrency.expect("a concurrency policy")
}

/// The one `#[rate_limit]`.
///
/// # Panics
/// Where there is none, or a second one.
pub fn rate_limit(declared: &Declared) -> &'static RateLimitDeclaration {
    let mut rate_limits = declared.rate_limits();
    let only = rate_limits.next().expect("a rate limit");
    assert!(rate_limits.next().is_none(), "one rate limit");
    only
}

/// All of a declaration in short, from top to bottom within each family.
pub fn keys(declared: &Declared) -> Vec<&'static str> {
    let concurrency = declared.concurrency.map(|policy| policy.key().text());
    let rate_limits = declared.rate_limits().map(|policy| policy.key().text());
    concurrency.into_iter().chain(rate_limits).collect()
}

/// Type and registry hold the very same declarations.
fn assert_registered(declared: &Declared, is_item: impl Fn(&Item) -> bool) {
    let registered: Vec<Policy> = inventory::iter::<Registration>
        .into_iter()
        .filter(|registration| is_item(&registration.item))
        .map(|registration| registration.policy)
        .collect();
    let is_registered = |policy: &Policy| registered.iter().any(|other| is_same(policy, other));
    let carried: Vec<Policy> = declared
        .concurrency
        .map(Policy::Concurrency)
        .into_iter()
        .chain(declared.rate_limits().map(Policy::RateLimit))
        .collect();
    assert!(
        carried.len() == registered.len() && carried.iter().all(is_registered),
        "the type carries {carried:?}, the registry {registered:?}"
    );
}

fn is_same(left: &Policy, right: &Policy) -> bool {
    match (left, right) {
        (Policy::Concurrency(left), Policy::Concurrency(right)) => ptr::eq(*left, *right),
        (Policy::RateLimit(left), Policy::RateLimit(right)) => ptr::eq(*left, *right),
        _ => false,
    }
}
