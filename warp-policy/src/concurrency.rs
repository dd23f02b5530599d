//! `#[mutex]` and `#[semaphore]`: how many jobs of a key run at any moment (R50–R53).

use serde::{Deserialize, Serialize};

use crate::error::PolicyError;
use crate::key::Key;
use crate::mode::Mode;

/// At most `limit` jobs of `key` run at any moment, over all workers and machines (R50). A mutex is a limit of 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct ConcurrencySpec {
    key: Key,
    limit: u32,
    mode: Mode,
}

impl ConcurrencySpec {
    /// A mutex: one job at a time, in the mode that mutexes have by default, [`Mode::Skip`] (R51).
    pub const fn mutex(key: Key) -> Self {
        Self {
            key,
            limit: 1,
            mode: Mode::Skip,
        }
    }

    /// A semaphore of `limit` slots, in the mode that semaphores have by default, [`Mode::Wait`] (R51).
    ///
    /// # Errors
    /// [`PolicyError::TooSmall`] for a `limit` of 0.
    pub fn semaphore(key: Key, limit: u32) -> Result<Self, PolicyError> {
        Ok(Self {
            key,
            limit: check_limit(i128::from(limit))?,
            mode: Mode::Wait,
        })
    }

    /// The same policy in another mode.
    #[must_use]
    pub fn with_mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// The key whose slots are counted.
    pub const fn key(&self) -> &Key {
        &self.key
    }

    /// How many slots the key has in the eyes of this job, from 1.
    pub const fn limit(&self) -> u32 {
        self.limit
    }

    /// What happens to a job that finds no slot.
    pub const fn mode(&self) -> Mode {
        self.mode
    }
}

/// Holds a `limit` to its caps: 1 to `u32::MAX` (R16).
///
/// # Errors
/// [`PolicyError::TooSmall`], [`PolicyError::TooLarge`].
pub fn check_limit(limit: i128) -> Result<u32, PolicyError> {
    check_size("limit", limit)
}

pub(crate) fn check_size(argument: &'static str, size: i128) -> Result<u32, PolicyError> {
    if size < 1 {
        return Err(PolicyError::TooSmall { argument });
    }
    u32::try_from(size).map_err(|_| PolicyError::TooLarge { argument })
}

/// A stored spec before its checks (R19).
#[derive(Deserialize)]
struct Unchecked {
    key: Key,
    limit: u32,
    mode: Mode,
}

impl TryFrom<Unchecked> for ConcurrencySpec {
    type Error = PolicyError;

    fn try_from(stored: Unchecked) -> Result<Self, PolicyError> {
        Ok(Self::semaphore(stored.key, stored.limit)?.with_mode(stored.mode))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R16: the caps of `limit`, on both sides of each boundary.
    #[test]
    fn limit_is_held_to_one_up_to_u32_max() {
        assert_eq!(
            check_limit(0),
            Err(PolicyError::TooSmall { argument: "limit" })
        );
        assert_eq!(
            check_limit(-1),
            Err(PolicyError::TooSmall { argument: "limit" })
        );
        assert_eq!(check_limit(1), Ok(1));
        assert_eq!(check_limit(i128::from(u32::MAX)), Ok(u32::MAX));
        assert_eq!(
            check_limit(i128::from(u32::MAX) + 1),
            Err(PolicyError::TooLarge { argument: "limit" })
        );
    }

    /// R51: the default modes differ.
    #[test]
    fn mutex_skips_and_semaphore_waits_by_default() -> Result<(), PolicyError> {
        assert_eq!(ConcurrencySpec::mutex(Key::new("k")?).mode(), Mode::Skip);
        assert_eq!(
            ConcurrencySpec::semaphore(Key::new("k")?, 2)?.mode(),
            Mode::Wait
        );
        Ok(())
    }

    /// R19: stored rows pass the same checks.
    #[test]
    fn a_stored_limit_of_zero_is_refused() {
        let stored = r#"{"key":"k","limit":0,"mode":"wait"}"#;
        let error = serde_json::from_str::<ConcurrencySpec>(stored).expect_err("a limit of zero");
        assert!(
            error.to_string().contains("`limit` must be at least 1"),
            "{error}"
        );
    }
}
