//! The rows of keys, which are their locks: that there is one for every key in use, and how they are locked.

use std::collections::{BTreeSet, HashSet};
use std::sync::PoisonError;

use serde::Deserialize;
use warp_policy::admission::KeyId;

use super::Inner;
use super::error::PostgresError;
use super::session::{Session, Statement, statement};
use crate::sql::documents::json;

/// How many keys a process remembers to have rows. Beyond that it begins anew; a key that is not remembered costs a statement.
const REMEMBERED: usize = 50_000;

/// What came of asking for the locks of keys.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Locks {
    pub(super) locked: BTreeSet<KeyId>,
    /// Keys without a row: nobody can lock them.
    pub(super) missing: Vec<KeyId>,
}

impl Inner {
    /// Adds the rows of keys that may have none, in a transaction of its own: an open one would hold up everybody who adds the same key.
    pub(super) async fn add_rows(
        &self,
        keys: impl IntoIterator<Item = KeyId>,
    ) -> Result<(), PostgresError> {
        let unknown: BTreeSet<KeyId> = {
            let known = self.known_keys();
            keys.into_iter()
                .filter(|key| !known.contains(key))
                .collect()
        };
        if unknown.is_empty() {
            return Ok(());
        }
        let keys = json(&unknown);
        self.rows(|| statement(&self.statements.limiters_insert).bind(keys.clone()))
            .await?;
        let mut known = self.known_keys();
        if known.len() > REMEMBERED {
            known.clear();
        }
        known.extend(unknown);
        Ok(())
    }

    /// Adds the rows of keys that were found to have none, though they once had one: they were forgotten as idle.
    pub(super) async fn add_missing_rows(&self, keys: Vec<KeyId>) -> Result<(), PostgresError> {
        {
            let mut known = self.known_keys();
            for key in &keys {
                known.remove(key);
            }
        }
        self.add_rows(keys).await
    }

    fn known_keys(&self) -> std::sync::MutexGuard<'_, HashSet<KeyId>> {
        self.known_keys
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks those of the keys that nobody else holds just now.
    pub(super) async fn lock_at_once(
        &self,
        session: &mut Session,
        keys: &BTreeSet<KeyId>,
    ) -> Result<Locks, PostgresError> {
        lock(session, statement(&self.statements.lock_at_once), keys).await
    }

    /// Locks all of the keys, whoever holds them, in the order in which everybody locks.
    pub(super) async fn lock_waiting(
        &self,
        session: &mut Session,
        keys: &BTreeSet<KeyId>,
    ) -> Result<Locks, PostgresError> {
        lock(session, statement(&self.statements.lock_waiting), keys).await
    }
}

async fn lock(
    session: &mut Session,
    statement: Statement,
    keys: &BTreeSet<KeyId>,
) -> Result<Locks, PostgresError> {
    if keys.is_empty() {
        return Ok(Locks::default());
    }
    session.document(statement.bind(json(keys))).await
}
