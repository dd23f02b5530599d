//! How a turn begins: the worker's row, and the attempts that ended.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use warp_policy::admission::KeyId;
use warp_policy::ids::JobId;

use super::error::PostgresError;
use super::keys::Locks;
use super::session::{Limits, Session, statement};
use super::turn::{Outcome, Taking};
use crate::model::Finished;
use crate::sql::documents::json;
use crate::sql::ends::{EndRow, Ended, Written, end_rows};
use crate::sql::log::LogLines;

/// How long a turn waits for a key of an attempt that ended (R86). PostgreSQL counts for each row: keys that others give back in time are
/// all waited for, and the first that is not ends the waiting.
const PATIENCE: Duration = Duration::from_millis(50);

/// What the first statement of a turn answers.
#[derive(Debug, Deserialize)]
struct Opening {
    is_registered: bool,
    #[serde(flatten)]
    written: Written,
    /// Those whose rows somebody else was changing.
    contended: BTreeSet<JobId>,
    #[serde(flatten)]
    locks: Locks,
}

/// An ended attempt with the keys of which it held a slot.
#[derive(Serialize)]
struct EndWithKeys<'a> {
    #[serde(flatten)]
    row: EndRow<'a>,
    keys: Vec<&'a KeyId>,
}

impl Taking<'_> {
    /// Takes the turn.
    pub(super) async fn take(&self) -> Result<Outcome, PostgresError> {
        let (session, opening) = match self.open(true).await {
            // The transaction is lost, and with it nothing: it had written nothing.
            Err(error) if error.is_lock_timeout() => self.open(false).await?,
            opened => opened?,
        };
        if !opening.is_registered {
            session.roll_back().await?;
            return Ok(Outcome::WorkerGone);
        }
        if !opening.locks.missing.is_empty() {
            session.roll_back().await?;
            return Ok(Outcome::Missing(opening.locks.missing));
        }
        let locked = opening.locks.locked;
        let (finished, left): (Vec<&Finished>, Vec<&Finished>) =
            self.dispatch.finished.iter().partition(|finished| {
                let mut keys = self.keys_of(finished.job);
                keys.all(|key| locked.contains(key)) && !opening.contended.contains(&finished.job)
            });
        let mut log = LogLines::default();
        let worker = self.dispatch.worker;
        let ended = Ended::of(
            finished,
            opening.written,
            &self.held,
            worker,
            self.now,
            &mut log,
        );
        let left = left.iter().map(|finished| finished.claim).collect();
        self.go_on(session, ended, &locked, log, left).await
    }

    /// Begins the transaction, locks, and ends attempts.
    async fn open(&self, waits: bool) -> Result<(Session, Opening), PostgresError> {
        let limits = Limits {
            idle: Duration::from_micros(self.lease / 6),
            lock: waits.then_some(PATIENCE),
        };
        let mut session = self.inner.begin(limits).await?;
        let text = if waits {
            &self.inner.statements.opening_that_waits
        } else {
            &self.inner.statements.opening_at_once
        };
        let rows = end_rows(&self.dispatch.finished, self.now);
        let ends: Vec<EndWithKeys<'_>> = rows
            .into_iter()
            .map(|row| EndWithKeys {
                keys: self.keys_of(row.job).collect(),
                row,
            })
            .collect();
        let keys: BTreeSet<&KeyId> = self.held.iter().map(|slot| &slot.key).collect();
        let statement = statement(text)
            .bind(self.dispatch.worker.get())
            .bind(self.now.as_micros())
            .bind(json(&ends))
            .bind(json(&keys))
            .bind(self.promotes);
        let opening = session.document(statement).await?;
        Ok((session, opening))
    }

    /// The keys of which an attempt that ended held a slot.
    fn keys_of(&self, job: JobId) -> impl Iterator<Item = &KeyId> {
        let held = self.held.iter().filter(move |slot| slot.job == job);
        held.map(|slot| &slot.key)
    }
}
