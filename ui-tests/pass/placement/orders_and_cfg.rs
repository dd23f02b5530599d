//! R4, S20: every order gives the same declaration; what is switched off is gone.
use warp_runtime::prelude::*;
use warp_ui_tests::{keys, on_contract, on_handler};

/// Every order of these, with attributes between them that are no policies.
mod orders {
    use super::*;

    /// Documented.
    #[mutex("p")]
    #[rate_limit("r", count = 1, per_seconds = 1)]
    #[derive(Serialize, Deserialize, Job)]
    #[repr(C)]
    pub(super) struct A(u8);

    #[mutex("p")]
    #[derive(Serialize, Deserialize, Job)]
    #[repr(C)]
    #[rate_limit("r", count = 1, per_seconds = 1)]
    /// Documented.
    pub(super) struct B(u8);

    #[repr(C)]
    #[rate_limit("r", count = 1, per_seconds = 1)]
    /// Documented.
    #[mutex("p")]
    #[derive(Serialize, Deserialize, Job)]
    pub(super) struct C(u8);

    #[rate_limit("r", count = 1, per_seconds = 1)]
    #[derive(Serialize, Deserialize, Job)]
    #[mutex("p")]
    #[job(name = "d")]
    pub(super) struct D(u8);

    #[derive(Serialize, Deserialize, Job)]
    #[job(name = "e")]
    #[mutex("p")]
    #[cfg(all())]
    #[rate_limit("r", count = 1, per_seconds = 1)]
    pub(super) struct E(u8);

    #[derive(Job)]
    #[rate_limit("r", count = 1, per_seconds = 1)]
    #[cfg_attr(all(), mutex("p"))]
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub(super) struct F {
        #[serde(default)]
        first_field: u8,
        #[cfg(any())]
        second_field: NoSuchType,
    }

    pub(super) const F: F = F { first_field: 1 };
}

#[mutex("gone")]
#[cfg(any())]
#[derive(Serialize, Deserialize, Job)]
struct Gone(NoSuchType);

#[cfg_attr(any(), mutex("off"))]
#[cfg_attr(all(), rate_limit("on", count = 1, per_seconds = 1))]
#[derive(Serialize, Deserialize, Job)]
struct Switched;

#[rate_limit("handler", count = 1, per_seconds = 1)]
#[allow(unused_variables, reason = "an attribute that must come through")]
#[cfg_attr(all(), semaphore("handler", limit = 2))]
impl JobHandler<Switched> for Switched {
    #![allow(non_snake_case, reason = "an inner one too")]

    #[cfg(any())]
    async fn handle(&self, _job: NoSuchType, _ctx: &JobContext) -> JobResult {}

    #[cfg(all())]
    async fn handle(&self, Job: Switched, ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

/// An item that comes out of a macro in one piece.
macro_rules! whole {
    ($item:item) => {
        #[mutex("whole")]
        $item
    };
}
whole! {
    #[derive(Serialize, Deserialize, Job)]
    struct Whole;
}
/// And through another one.
macro_rules! through {
    ($item:item) => {
        whole! { $item }
    };
}
through! {
    impl JobHandler<Whole> for Whole {
        async fn handle(&self, _job: Whole, _ctx: &JobContext) -> JobResult {
            Ok(())
        }
    }
}

/// A block whose head comes in pieces.
macro_rules! handler {
    ($handler:ty, $contract:ty, $key:expr) => {
        #[mutex($key)]
        impl JobHandler<$contract> for $handler {
            async fn handle(&self, _job: $contract, _ctx: &JobContext) -> JobResult {
                Ok(())
            }
        }
    };
}
struct Pieces;
handler!(Pieces, Whole, "pieces");

fn main() {
    for declared in [
        on_contract::<orders::A>(),
        on_contract::<orders::B>(),
        on_contract::<orders::C>(),
        on_contract::<orders::D>(),
        on_contract::<orders::E>(),
        on_contract::<orders::F>(),
    ] {
        assert_eq!(keys(&declared), ["p", "r"]);
    }
    assert_eq!(orders::D::NAME, "d");
    drop(orders::F);

    assert_eq!(keys(&on_contract::<Switched>()), ["on"]);
    assert_eq!(
        keys(&on_handler::<Switched, Switched>("Switched", "Switched")),
        ["handler", "handler"]
    );

    assert_eq!(keys(&on_contract::<Whole>()), ["whole"]);
    assert_eq!(
        keys(&on_handler::<Whole, Whole>("Whole", "Whole")),
        ["whole"]
    );
    assert_eq!(
        keys(&on_handler::<Whole, Pieces>("Pieces", "Whole")),
        ["pieces"]
    );
}
