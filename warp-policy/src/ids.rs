//! Numbers that a store gives out.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(i64);

        impl $name {
            /// The id with this number.
            pub const fn new(number: i64) -> Self {
                Self(number)
            }

            /// The number.
            pub const fn get(self) -> i64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

id! {
    /// A job. Ids ascend in the order of enqueueing.
    JobId
}
id! {
    /// A lane: the waiting jobs of one queue, kind and key set (R43).
    LaneId
}
id! {
    /// A worker; new at every start.
    WorkerId
}
id! {
    /// A claim: one start of one job. Ascends over the whole store; handlers know it as their fencing token (R81).
    ClaimId
}
