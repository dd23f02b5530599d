//! The only module that generated code may name. Not part of the public API: it changes with every release.

pub use std::any::Any;

pub use inventory;
pub use warp_policy::declaration::{
    ConcurrencyDeclaration, Declared, KeyDeclaration, RateLimitDeclaration, Site,
};
pub use warp_policy::key::KeyWriter;
pub use warp_policy::{Mode, Style};

pub use crate::contract::Job;
pub use crate::registry::{Contract, Item, JobRegistration, Policy, Registration, Used};

/// What a contract without attributes declares. Inherent constants, which the attributes emit, win over these (R5).
pub trait Undeclared {
    #[doc(hidden)]
    const __WARP_CONCURRENCY: Option<&'static ConcurrencyDeclaration> = None;
    #[doc(hidden)]
    const __WARP_RATE_LIMIT_0: Option<&'static RateLimitDeclaration> = None;
    #[doc(hidden)]
    const __WARP_RATE_LIMIT_1: Option<&'static RateLimitDeclaration> = None;
    #[doc(hidden)]
    const __WARP_RATE_LIMIT_2: Option<&'static RateLimitDeclaration> = None;
    #[doc(hidden)]
    const __WARP_RATE_LIMIT_3: Option<&'static RateLimitDeclaration> = None;
    #[doc(hidden)]
    const __WARP_RATE_LIMIT_4: Option<&'static RateLimitDeclaration> = None;
    #[doc(hidden)]
    const __WARP_RATE_LIMIT_5: Option<&'static RateLimitDeclaration> = None;
    #[doc(hidden)]
    const __WARP_RATE_LIMIT_6: Option<&'static RateLimitDeclaration> = None;
    #[doc(hidden)]
    const __WARP_RATE_LIMIT_7: Option<&'static RateLimitDeclaration> = None;
}

impl<T: ?Sized> Undeclared for T {}

/// A type that policies may go on (R12).
#[diagnostic::on_unimplemented(
    message = "a policy attribute goes on a job, and `{Self}` is none",
    label = "not a job",
    note = "add `#[derive(Serialize, Deserialize, Job)]` to `{Self}`, or remove the attribute",
    note = "a request is answered in its caller's process and follows no policy"
)]
pub trait PolicyTarget {
    /// What the type carries. Generated code asserts that its policy is among it, since a `Job` written by hand carries none (R5).
    const DECLARED: Declared;
}

impl<T: Job> PolicyTarget for T {
    const DECLARED: Declared = T::__WARP_DECLARED;
}
