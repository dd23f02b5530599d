//! What a crate of the edition 2021 declares that knows the runtime under another name.

use jobs::prelude::*;

/// A job that is there where the crate is linked.
#[mutex("linked", crate = ::jobs)]
#[derive(Debug, Serialize, Deserialize, Job)]
#[job(name = "linked", crate = ::jobs)]
#[non_exhaustive]
pub struct Linked;
