//! One dispatch turn: a plain read, and where there is something to do, one transaction; or a single statement, where no key is concerned.

use std::collections::{BTreeMap, BTreeSet};

use warp_policy::Timestamp;
use warp_policy::admission::{KeyId, demands};
use warp_policy::ids::JobId;

use super::Inner;
use super::error::PostgresError;
use super::session::{At, Statement, statement};
use super::without_keys::AtOnce;
use crate::error::StoreError;
use crate::model::{Dispatch, Dispatched, End, Finished, Resolution, Resolver};
use crate::sql::agenda::{nothing_to_do, resolve, went_back};
use crate::sql::documents::{HeldSlot, Peek, json};
use crate::sql::judging::Unreadable;
use crate::sql::reading::{fetch_size, number};
use crate::stamp;

/// How often a turn begins anew, after rows that others forgot were added again, or rows that cannot be judged were mended.
const BEGINS: usize = 100;

/// A turn while it is taken.
pub(super) struct Taking<'a> {
    pub(super) dispatch: &'a Dispatch,
    pub(super) resolutions: &'a BTreeMap<JobId, Resolution>,
    pub(super) held: Vec<HeldSlot>,
    pub(super) cancelled: Vec<JobId>,
    /// The instant of the ends.
    pub(super) now: Timestamp,
    /// Whether scheduled jobs have become ready.
    pub(super) promotes: bool,
    /// The lease of the worker, in microseconds.
    pub(super) lease: u64,
    pub(super) inner: &'a Inner,
}

/// What came of a turn.
pub(super) enum Outcome {
    Taken(Box<Taken>),
    /// The worker was declared dead.
    WorkerGone,
    /// Nothing was done yet, since these keys have no rows.
    Missing(Vec<KeyId>),
    /// Nothing was done yet, since these have to be mended first.
    Unreadable(Vec<Unreadable>),
}

/// A turn that was taken.
pub(super) struct Taken {
    pub(super) dispatched: Dispatched,
    /// Whether another worker has something to do because of it.
    pub(super) others_care: bool,
}

impl Inner {
    pub(super) async fn dispatch(
        &self,
        mut dispatch: Dispatch,
        resolver: &dyn Resolver,
    ) -> Result<Dispatched, StoreError> {
        let worker = dispatch.worker;
        let finished = dispatch.finished.into_iter().map(without_zeros);
        dispatch.finished = finished.collect();
        let mut seen = match self.take_without_keys(&dispatch, resolver).await? {
            AtOnce::Taken(taken) => return Ok(self.done(*taken)),
            AtOnce::WorkerGone => return Err(StoreError::WorkerGone { worker }),
            AtOnce::Seen(peek) => Some(peek),
            AtOnce::NotTried => None,
        };
        let mut resolutions = BTreeMap::new();
        for _ in 0..BEGINS {
            let At {
                now,
                document: peek,
            } = match seen.take() {
                Some(seen) => seen,
                None => self.peek(&dispatch).await?,
            };
            let renewed = peek
                .worker
                .as_ref()
                .map(|seen| (seen.lease, seen.last_seen));
            let (Some(calls), Some((lease, last_seen))) =
                (peek.calls_for_a_turn(&dispatch, now), renewed)
            else {
                return Err(StoreError::WorkerGone { worker });
            };
            if !calls && self.has_reported() {
                return Ok(nothing_to_do(peek, now));
            }
            if went_back(peek.latest, now) {
                self.notice_clock(now).await?;
            }
            if now.micros_since(last_seen) >= lease {
                self.look_at_lines_of(worker, now).await?;
            }
            let mut unresolved = peek.unresolved;
            unresolved.retain(|row| !resolutions.contains_key(&row.id));
            resolutions.extend(resolve(unresolved, resolver).into_iter().map(cleaned));
            let keys = keys_to_expect(&resolutions, &peek.stamps, &peek.held);
            self.add_rows(keys).await?;

            let promotes = peek.agenda.scheduled.is_some_and(|place| place <= now);
            let taking = Taking {
                dispatch: &dispatch,
                resolutions: &resolutions,
                held: peek.held,
                cancelled: dispatch.still_running(peek.cancelled),
                now,
                promotes: promotes && dispatch.room > 0,
                lease,
                inner: self,
            };
            match taking.take().await? {
                Outcome::Taken(taken) => return Ok(self.done(*taken)),
                Outcome::WorkerGone => return Err(StoreError::WorkerGone { worker }),
                Outcome::Missing(keys) => self.add_missing_rows(keys).await?,
                Outcome::Unreadable(jobs) => self.mend(&jobs, now).await?,
            }
        }
        let place = self.place.clone();
        Err(PostgresError::Restless { place }.into())
    }

    async fn peek(&self, dispatch: &Dispatch) -> Result<At<Peek>, PostgresError> {
        let finished = dispatch.finished.iter();
        let ended: BTreeSet<JobId> = finished.map(|finished| finished.job).collect();
        let ended = json(&ended);
        let statement = || {
            let peek = statement(&self.statements.peek);
            bind_fetch(peek, dispatch, self.time.given()).bind(ended.clone())
        };
        self.document_at(statement).await
    }

    fn done(&self, taken: Taken) -> Dispatched {
        if taken.others_care {
            self.announce_to_all();
        }
        let mut dispatched = taken.dispatched;
        let mut failed = self.unreported();
        failed.append(&mut dispatched.failed);
        Dispatched {
            failed,
            ..dispatched
        }
    }

    /// A clock that went back leaves lanes behind that are timed by what it showed before: every line is looked at again, so that nobody
    /// waits for longer than its policy says (R66).
    pub(super) async fn notice_clock(&self, now: Timestamp) -> Result<(), PostgresError> {
        let mut session = self.begin(super::session::Limits::SHORT).await?;
        for text in [&self.statements.look_at_all, &self.statements.forget_latest] {
            session
                .execute(statement(text).bind(now.as_micros()))
                .await?;
        }
        session.commit().await
    }
}

/// Fills in what every fetch takes.
pub(super) fn bind_fetch(
    statement: Statement,
    dispatch: &Dispatch,
    given: Option<i64>,
) -> Statement {
    statement
        .bind(dispatch.worker.get())
        .bind(given)
        .bind(number(dispatch.room))
        .bind(fetch_size(dispatch))
}

/// The keys that a turn will ask for, as far as they are known before it.
fn keys_to_expect(
    resolutions: &BTreeMap<JobId, Resolution>,
    stamps: &[String],
    held: &[HeldSlot],
) -> BTreeSet<KeyId> {
    let resolved = resolutions
        .values()
        .filter_map(|resolution| match resolution {
            Resolution::Stamp(stamp) => Some(demands(stamp)),
            Resolution::Fail(_) => None,
        });
    let read = stamps.iter().filter_map(|text| stamp::read(text).ok());
    let stamped = read.map(|stamp| demands(&stamp));
    let mut keys: BTreeSet<KeyId> = held.iter().map(|slot| slot.key.clone()).collect();
    for demands in resolved.chain(stamped) {
        keys.extend(demands.iter().map(|demand| demand.key.clone()));
    }
    keys
}

/// PostgreSQL keeps every character but one.
fn without_zeros(mut finished: Finished) -> Finished {
    if let End::Retry { error, .. } | End::Failed { error } = &mut finished.end {
        *error = error.replace('\0', "\u{fffd}");
    }
    finished
}

fn cleaned((job, resolution): (JobId, Resolution)) -> (JobId, Resolution) {
    match resolution {
        Resolution::Fail(error) => (job, Resolution::Fail(error.replace('\0', "\u{fffd}"))),
        stamp @ Resolution::Stamp(_) => (job, stamp),
    }
}
