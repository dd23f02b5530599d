//! S18: nothing the user defines changes the meaning of generated code.

/// A facade that users know instead of the runtime.
mod facade {
    pub(crate) mod jobs {
        pub(crate) use warp_runtime::*;
    }
}

mod shadowed {
    use ::warp_runtime::{
        Job as JobDerive, JobHandler, mutex as exclusive, rate_limit as at_most,
        semaphore as at_once,
    };

    mod core {}
    mod std {}
    mod alloc {}
    mod inventory {}
    mod warp_policy {}
    #[allow(dead_code, reason = "here to be in the way")]
    mod names {
        pub(super) struct Result<T>(T);
        pub(super) enum Option {
            Some,
            None,
        }
        pub(super) struct String;
        pub(super) struct Vec;
        pub(super) trait From {}
        pub(super) trait Any {}
        pub(super) trait Job {}
        pub(super) struct Declared;
        pub(super) struct Registration;
        #[allow(non_camel_case_types, reason = "likewise")]
        pub(super) type u32 = ();
        #[allow(non_camel_case_types, reason = "likewise")]
        pub(super) type u64 = ();
        #[allow(non_camel_case_types, reason = "likewise")]
        pub(super) type str = ();
    }
    #[allow(unused_imports, reason = "here to be in the way")]
    use self::names::Option::{None, Some};
    #[allow(unused_imports, reason = "here to be in the way")]
    use self::names::{
        Any, Declared, From, Job, Option, Registration, Result, String, Vec, str, u32, u64,
    };
    #[allow(non_snake_case, dead_code, reason = "here to be in the way")]
    fn Ok() {}
    #[allow(unused_macros, reason = "here to be in the way")]
    macro_rules! assert {
        ($($token:tt)*) => {
            ::core::compile_error!("not this one")
        };
    }
    #[allow(unused_macros, reason = "here to be in the way")]
    macro_rules! line {
        () => {
            ::core::compile_error!("not this one")
        };
    }

    pub(super) const SLOTS: ::core::primitive::u32 = 3;

    #[exclusive("shadowed:{id}")]
    #[at_most("shadowed", count = SLOTS, per_seconds = 60)]
    #[derive(JobDerive)]
    pub(super) struct Shadowed {
        pub(super) id: ::core::primitive::u8,
    }

    #[at_once("shadowed", limit = SLOTS)]
    #[at_most("shadowed:{id}", count = 1, per = "1s")]
    impl JobHandler<Shadowed> for Shadowed {
        async fn handle(
            &self,
            _job: Shadowed,
            _ctx: &::warp_runtime::JobContext,
        ) -> ::warp_runtime::JobResult {
            ::core::result::Result::Ok(())
        }
    }
}

/// serde's derives would take a `u64` of the user's for their own.
mod serde_by_hand {
    use ::serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::shadowed::Shadowed;

    impl Serialize for Shadowed {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            self.id.serialize(serializer)
        }
    }

    impl<'de> Deserialize<'de> for Shadowed {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            u8::deserialize(deserializer).map(|id| Self { id })
        }
    }
}

mod through_facade {
    use ::serde::{Deserialize, Serialize};

    use crate::facade::jobs::{
        Job, JobContext, JobHandler, JobResult, mutex, rate_limit, semaphore,
    };

    /// Only the path that is named is used: this is not the runtime.
    mod warp_runtime {}

    #[mutex("facade:{id}", crate = crate::facade::jobs)]
    #[rate_limit("facade", count = 1, per_seconds = 1, crate = crate::facade::jobs)]
    #[derive(Serialize, Deserialize, Job)]
    #[job(crate = crate::facade::jobs)]
    pub(super) struct Facade {
        pub(super) id: u8,
    }

    #[semaphore("facade", crate = crate::facade::jobs, limit = 2)]
    impl JobHandler<Facade> for Facade {
        async fn handle(&self, _job: Facade, _ctx: &JobContext) -> JobResult {
            Ok(())
        }
    }

    /// A macro of the facade that writes its own path.
    macro_rules! job {
        ($name:ident) => {
            #[mutex("macro", crate = $crate::facade::jobs)]
            #[derive(Serialize, Deserialize, Job)]
            #[job(crate = $crate::facade::jobs)]
            pub(super) struct $name;
        };
    }
    job!(FromMacro);
}

/// No prelude at all.
mod without_prelude {
    #![no_implicit_prelude]

    #[::warp_runtime::mutex("bare:{id}", crate = ::warp_runtime)]
    #[::warp_runtime::rate_limit("bare", count = 1, per_seconds = 1)]
    #[derive(::serde::Serialize, ::serde::Deserialize, ::warp_runtime::Job)]
    pub(super) struct Bare {
        pub(super) id: u8,
    }

    #[::warp_runtime::semaphore("bare:{id}", limit = 2)]
    impl ::warp_runtime::JobHandler<Bare> for Bare {
        async fn handle(
            &self,
            _job: Bare,
            _ctx: &::warp_runtime::JobContext,
        ) -> ::warp_runtime::JobResult {
            ::core::result::Result::Ok(())
        }
    }
}

fn main() {
    use warp_ui_tests::{concurrency, keys, on_contract, on_handler};

    use self::shadowed::{SLOTS, Shadowed};
    use self::through_facade::{Facade, FromMacro};
    use self::without_prelude::Bare;

    assert_eq!(
        keys(&on_contract::<Shadowed>()),
        ["shadowed:{id}", "shadowed"]
    );
    let handler = on_handler::<Shadowed, Shadowed>("Shadowed", "Shadowed");
    assert_eq!(keys(&handler), ["shadowed", "shadowed:{id}"]);
    assert_eq!(concurrency(&handler).limit(), SLOTS);
    assert!(
        concurrency(&on_contract::<Shadowed>())
            .spec(&Shadowed { id: 1 })
            .is_ok()
    );

    assert_eq!(keys(&on_contract::<Facade>()), ["facade:{id}", "facade"]);
    assert_eq!(
        keys(&on_handler::<Facade, Facade>("Facade", "Facade")),
        ["facade"]
    );
    assert!(
        concurrency(&on_contract::<Facade>())
            .spec(&Facade { id: 1 })
            .is_ok()
    );
    assert_eq!(keys(&on_contract::<FromMacro>()), ["macro"]);

    assert_eq!(keys(&on_contract::<Bare>()), ["bare:{id}", "bare"]);
    assert_eq!(
        keys(&on_handler::<Bare, Bare>("Bare", "Bare")),
        ["bare:{id}"]
    );
    assert!(
        concurrency(&on_contract::<Bare>())
            .spec(&Bare { id: 1 })
            .is_ok()
    );
}
