//! Statements of their own, and transactions.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, Row};
use warp_policy::Timestamp;

use super::Inner;
use super::error::{Place, PostgresError};
use super::statistics::Counts;
use super::time::Time;
use crate::clock::{Clock, SystemClock};

/// How often a statement of its own is tried where others changed the same rows: only under a default isolation that is stricter than
/// what Warp needs does the server refuse it for that.
const TRIES: usize = 10;

/// How a transaction begins, with all that it needs to plan by indexes alone.
pub(super) const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL jit = off; \
     SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_hashjoin = off; \
     SET LOCAL enable_mergejoin = off";

/// The longest limit that PostgreSQL takes is some days longer.
const LONGEST_LIMIT: Duration = Duration::from_hours(20 * 24);

pub(super) type Statement = Query<'static, sqlx::Postgres, PgArguments>;

/// A statement with a composed text.
pub(super) fn statement(text: &Arc<str>) -> Statement {
    sqlx::query(AssertSqlSafe(Arc::clone(text)))
}

/// A document that says which instant it was made at.
#[derive(Debug, Deserialize)]
pub(super) struct At<D> {
    pub(super) now: Timestamp,
    #[serde(flatten)]
    pub(super) document: D,
}

/// How long a transaction may make others wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// How long it may be idle: then the server ends it, so that a frozen process holds its locks no longer (R86).
    pub(super) idle: Duration,
    /// How long it waits for a row; for ever if none.
    pub(super) lock: Option<Duration>,
}

impl Limits {
    /// For what is no worker's turn.
    pub(super) const SHORT: Self = Self {
        idle: Duration::from_secs(5),
        lock: None,
    };
}

impl Inner {
    /// A transaction. Its isolation is set here, whatever the server's or the role's default is: under a stricter one a statement after a
    /// lock would still not see what was committed while the lock was waited for. Everything is set for the transaction alone, so that
    /// connections may be shared out by a pooler.
    ///
    /// A list that comes in is joined with a table through the table's index, however small the table was when the plan was made, and
    /// whatever statistics say.
    pub(super) async fn begin(&self, limits: Limits) -> Result<Session, PostgresError> {
        let millis = |duration: Duration| duration.as_millis().clamp(1, LONGEST_LIMIT.as_millis());
        let text = format!(
            "{BEGIN}; SET LOCAL idle_in_transaction_session_timeout = {}; SET LOCAL lock_timeout = {}",
            millis(limits.idle),
            limits.lock.map_or(0, millis),
        );
        self.counts.statement();
        self.counts.transaction();
        let transaction = self.pool.begin_with(AssertSqlSafe(text)).await;
        Ok(Session {
            transaction: transaction.map_err(|error| PostgresError::of(&self.place, error))?,
            place: self.place.clone(),
            counts: Arc::clone(&self.counts),
            time: self.time.clone(),
        })
    }

    /// A statement that is a transaction of its own.
    pub(super) async fn rows(
        &self,
        statement: impl Fn() -> Statement,
    ) -> Result<Vec<PgRow>, PostgresError> {
        let mut tries = 1..;
        loop {
            self.counts.statement();
            self.counts.transaction();
            let rows = statement().fetch_all(&self.pool).await;
            match rows.map_err(|error| PostgresError::of(&self.place, error)) {
                Err(PostgresError::Busy { .. }) if tries.next() < Some(TRIES) => {}
                done => return done,
            }
        }
    }

    /// Reads one document that says which instant it was made at.
    pub(super) async fn document_at<D: DeserializeOwned>(
        &self,
        statement: impl Fn() -> Statement,
    ) -> Result<At<D>, PostgresError> {
        let sent = SystemClock.now();
        let rows = self.rows(statement).await?;
        let at: At<D> = decoded(&rows, &self.place, &self.counts)?;
        self.time.note(sent, at.now);
        Ok(at)
    }

    /// A question in a transaction of its own, so that it goes by indexes alone. For what is asked seldom.
    pub(super) async fn answer(&self, statement: Statement) -> Result<Vec<PgRow>, PostgresError> {
        let mut session = self.begin(Limits::SHORT).await?;
        let rows = session.rows(statement).await?;
        session.commit().await?;
        Ok(rows)
    }

    /// The same, answered by one document.
    pub(super) async fn document<D: DeserializeOwned>(
        &self,
        statement: Statement,
    ) -> Result<D, PostgresError> {
        let rows = self.answer(statement).await?;
        decoded(&rows, &self.place, &self.counts)
    }
}

/// A transaction. Dropped before its commit, it leaves nothing behind.
pub(super) struct Session {
    transaction: sqlx::Transaction<'static, sqlx::Postgres>,
    place: Place,
    counts: Arc<Counts>,
    time: Time,
}

impl Session {
    pub(super) async fn rows(&mut self, statement: Statement) -> Result<Vec<PgRow>, PostgresError> {
        self.counts.statement();
        let rows = statement.fetch_all(&mut *self.transaction).await;
        rows.map_err(|error| PostgresError::of(&self.place, error))
    }

    pub(super) async fn execute(&mut self, statement: Statement) -> Result<(), PostgresError> {
        self.rows(statement).await.map(drop)
    }

    pub(super) async fn document<D: DeserializeOwned>(
        &mut self,
        statement: Statement,
    ) -> Result<D, PostgresError> {
        let rows = self.rows(statement).await?;
        decoded(&rows, &self.place, &self.counts)
    }

    pub(super) async fn document_at<D: DeserializeOwned>(
        &mut self,
        statement: Statement,
    ) -> Result<At<D>, PostgresError> {
        let sent = SystemClock.now();
        let at: At<D> = self.document(statement).await?;
        self.time.note(sent, at.now);
        Ok(at)
    }

    pub(super) async fn commit(self) -> Result<(), PostgresError> {
        self.counts.statement();
        let committed = self.transaction.commit().await;
        committed.map_err(|error| PostgresError::of(&self.place, error))
    }

    pub(super) async fn roll_back(self) -> Result<(), PostgresError> {
        self.counts.statement();
        let rolled_back = self.transaction.rollback().await;
        rolled_back.map_err(|error| PostgresError::of(&self.place, error))
    }

    pub(super) fn damaged(&self, what: String) -> PostgresError {
        let place = self.place.clone();
        PostgresError::Damaged { place, what }
    }
}

fn decoded<D: DeserializeOwned>(
    rows: &[PgRow],
    place: &Place,
    counts: &Counts,
) -> Result<D, PostgresError> {
    let text = rows.first().map_or(Ok(String::new()), |row| {
        row.try_get_unchecked::<String, _>(0)
    });
    let text = text.map_err(|error| PostgresError::of(place, error))?;
    counts.read(text.len());
    serde_json::from_str(&text).map_err(|error| PostgresError::Damaged {
        place: place.clone(),
        what: error.to_string(),
    })
}
