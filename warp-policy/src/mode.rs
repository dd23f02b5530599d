//! What happens to a job that a policy refuses.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What happens to a job that a policy refuses (R41).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "R41 knows these two; a third is a breaking change"
)]
pub enum Mode {
    /// The job ends as `Deleted`. Decides a job's first start only: later it waits.
    Skip,
    /// The job waits in line until it can be admitted.
    Wait,
}

impl Mode {
    /// Every mode, in the order in which messages list them.
    pub const ALL: [Self; 2] = [Self::Skip, Self::Wait];

    /// The spelling in attributes, tables and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Wait => "wait",
        }
    }

    /// The mode spelt `text`.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == text)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
