//! What a turn reads under the write lock.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use warp_policy::admission::{
    Candidate, Demand, Fleet, KeyId, LINE_READ, Lane, LaneView, Order, Route, Turn, Waiter,
};
use warp_policy::ids::{JobId, LaneId};
use warp_policy::{Stamp, Timestamp};

use super::documents::{JobRow, Jobs, Keys, LaneRow, Lanes, ReadyRow, json};
use super::error::SqliteError;
use super::limiters::{Asking, Limiters, view};
use super::mend::Unreadable;
use super::stamps::Stamps;
use super::statements::{JOBS, KEYS, LANES};
use super::turn::Taking;
use super::writer::Session;
use crate::model::Resolution;

/// Everything that a turn has read.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) turn: Turn,
    pub(super) fleet: Fleet,
    /// The lanes that were judged, or seen in a line.
    pub(super) lanes: BTreeMap<LaneId, LaneRow>,
    pub(super) looked_at: BTreeMap<KeyId, Option<LaneId>>,
    pub(super) jobs: BTreeMap<JobId, Read>,
    /// Ready jobs that have to fail.
    pub(super) failed: Vec<(JobId, String)>,
    pub(super) last_line: i64,
    pub(super) last_lane: i64,
}

/// What has to be known of a job that is judged.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) route: Route,
    pub(super) attempts: u32,
    pub(super) demands: Arc<[Demand]>,
    /// The stamp, where it was resolved for this turn.
    pub(super) stamp: Option<Stamp>,
}

/// What came of reading.
pub(super) enum Outcome {
    /// Everything that the planner needs.
    Read(Box<Reading>),
    /// These have to be mended first.
    Unreadable(Vec<Unreadable>),
    /// The worker was declared dead.
    WorkerGone,
}

/// The lanes to judge, each with its first jobs.
#[derive(Default)]
struct Judged {
    lanes: Vec<Lane>,
    rows: BTreeMap<LaneId, LaneRow>,
}

impl Taking<'_> {
    pub(super) async fn read(
        &self,
        session: &mut Session,
        freed: &BTreeMap<KeyId, usize>,
    ) -> Result<Outcome, SqliteError> {
        let mut document = self.read_lanes(session, freed).await?;
        if self.notice(session, &document.workers).await? {
            document = self.read_lanes(session, freed).await?;
        }
        let worker = self.dispatch.worker;
        if document.workers.workers.iter().all(|row| row.id != worker) {
            return Ok(Outcome::WorkerGone);
        }
        self.note_others(&document.workers);
        let fleet = document.workers.fleet(worker, self.now);

        let room = self.dispatch.room;
        let left_out = document.lanes.get(room).map(LaneRow::order);
        document.lanes.truncate(room);
        let jobs = self.read_jobs(session, &document.lanes, left_out).await?;

        let mut stamps = Stamps::default();
        let mut unreadable = Vec::new();
        let mut read = BTreeMap::new();
        let judged = judged(
            document.lanes,
            jobs.lanes,
            room,
            &mut stamps,
            &mut read,
            &mut unreadable,
        );
        if !unreadable.is_empty() {
            return Ok(Outcome::Unreadable(unreadable));
        }
        let mut failed = Vec::new();
        let mut candidates = Vec::new();
        for row in jobs.ready {
            match self.stamped(&row, &mut stamps) {
                Some(Ok((demands, stamp))) => {
                    candidates.push(candidate(&row, &demands));
                    let route = row.route.into();
                    read.insert(
                        row.job.id,
                        Read {
                            route,
                            attempts: row.job.attempts,
                            demands,
                            stamp,
                        },
                    );
                }
                Some(Err(error)) => failed.push((row.job.id, error)),
                None => {}
            }
        }

        let asked = keys(freed, document.looks, &judged, &candidates);
        let document_of_keys = read_keys(session, &asked, &candidates).await?;
        let mut own_lanes = Vec::new();
        for lane in &document_of_keys.lanes {
            match view(&lane.lane, &mut stamps) {
                Ok(view) => own_lanes.push((lane.number, view, lane.lane.clone())),
                Err(error) => unreadable.push(Unreadable {
                    job: lane.lane.head,
                    lane: lane.lane.id,
                    error,
                }),
            }
        }
        let asking = Asking {
            fleet: &fleet,
            now: self.now,
        };
        let limiters = asking.limiters(&asked, document_of_keys, &mut stamps, &mut unreadable);
        let limiters = limiters.map_err(|what| session.damaged(what))?;
        if !unreadable.is_empty() {
            // One job may stand at the head of several lines that were read.
            unreadable.sort_unstable_by_key(|unreadable| unreadable.job);
            unreadable.dedup_by_key(|unreadable| unreadable.job);
            return Ok(Outcome::Unreadable(unreadable));
        }
        let looked_at = limiters.looked_at(self.now);
        let Limiters {
            states, mut lanes, ..
        } = limiters;
        join_lanes(&mut candidates, &own_lanes);
        lanes.extend(own_lanes.into_iter().map(|(_, _, row)| (row.id, row)));
        lanes.extend(judged.rows);
        self.counts.turn(candidates.len(), judged.lanes.len());
        let turn = Turn {
            now: self.now,
            fleet: fleet.clone(),
            room,
            candidates,
            lanes: judged.lanes,
            keys: states,
        };
        Ok(Outcome::Read(Box::new(Reading {
            turn,
            fleet,
            lanes,
            looked_at,
            jobs: read,
            failed,
            last_line: document.workers.last_line,
            last_lane: document.last_lane,
        })))
    }

    async fn read_lanes(
        &self,
        session: &mut Session,
        freed: &BTreeMap<KeyId, usize>,
    ) -> Result<Lanes, SqliteError> {
        let freed: Vec<_> = freed
            .iter()
            .map(|(key, count)| serde_json::json!({ "family": key.family, "key": key.key, "count": count }))
            .collect();
        let statement = sqlx::query(LANES)
            .bind(self.dispatch.worker.get())
            .bind(self.now.as_micros())
            .bind(number(self.dispatch.room + 1))
            .bind(json(&freed));
        session.document(statement).await
    }

    async fn read_jobs(
        &self,
        session: &mut Session,
        lanes: &[LaneRow],
        left_out: Option<Order>,
    ) -> Result<Jobs, SqliteError> {
        let room = self.dispatch.room;
        if room == 0 {
            return Ok(Jobs {
                ready: Vec::new(),
                lanes: Vec::new(),
            });
        }
        let statement = bind_fetch(sqlx::query(JOBS), self.dispatch, self.now, left_out)
            .bind(json(&lanes.iter().map(|lane| lane.id).collect::<Vec<_>>()))
            .bind(number(room + 2));
        session.document(statement).await
    }

    /// What a ready job asks, with its stamp where it is new; why it has to fail; or nothing where it became ready after the resolver was
    /// asked: the next turn has it.
    fn stamped(
        &self,
        row: &ReadyRow,
        stamps: &mut Stamps,
    ) -> Option<Result<(Arc<[Demand]>, Option<Stamp>), String>> {
        if let Some(text) = &row.job.stamp {
            return Some(stamps.demands(text).map(|demands| (demands, None)));
        }
        match self.resolved.get(&row.job.id)? {
            Resolution::Stamp(stamp) => Some(Ok((
                warp_policy::admission::demands(stamp),
                Some(stamp.clone()),
            ))),
            Resolution::Fail(error) => Some(Err(error.clone())),
        }
    }
}

/// Fills in what every fetch takes.
pub(super) fn bind_fetch(
    statement: super::writer::Statement,
    dispatch: &crate::model::Dispatch,
    now: Timestamp,
    until: Option<Order>,
) -> super::writer::Statement {
    let (rank, place, id) = until.map_or((i64::MAX, i64::MAX, i64::MAX), |until| {
        (
            super::documents::rank(until.priority()),
            until.place().as_micros(),
            until.id().get(),
        )
    });
    let fetch = if dispatch.room == 0 {
        0
    } else {
        dispatch.fetch.max(dispatch.room)
    };
    statement
        .bind(dispatch.worker.get())
        .bind(now.as_micros())
        .bind(number(dispatch.room))
        .bind(number(fetch))
        .bind(rank)
        .bind(place)
        .bind(id)
}

/// A number of rows.
pub(super) fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The lanes to judge with their first jobs. One more than fit the room was read of each, to know whether there are more.
fn judged(
    rows: Vec<LaneRow>,
    jobs: Vec<Vec<JobRow>>,
    room: usize,
    stamps: &mut Stamps,
    read: &mut BTreeMap<JobId, Read>,
    unreadable: &mut Vec<Unreadable>,
) -> Judged {
    let mut judged = Judged::default();
    for (row, mut jobs) in rows.into_iter().zip(jobs) {
        let more = jobs.len() > room + 1;
        jobs.truncate(room + 1);
        let mut waiters = Vec::with_capacity(jobs.len());
        for job in jobs {
            match stamps.demands_in(&row, job.stamp.as_deref()) {
                Ok(demands) => {
                    waiters.push(waiter(&job, &demands));
                    let route = row.route.clone().into();
                    read.insert(
                        job.id,
                        Read {
                            route,
                            attempts: job.attempts,
                            demands,
                            stamp: None,
                        },
                    );
                }
                Err(error) => unreadable.push(Unreadable {
                    job: job.id,
                    lane: row.id,
                    error,
                }),
            }
        }
        let sleeps_on = row.sleeps_on();
        let head = waiters
            .first()
            .and_then(|waiter| waiter.demands.iter().find(|demand| demand.key == sleeps_on));
        if let Some(demand) = head.cloned() {
            let view = LaneView {
                id: row.id,
                route: row.route.clone().into(),
                head: row.order(),
                demand,
                next_at: row.next_at,
                refusals: row.refusals,
            };
            judged.lanes.push(Lane {
                view,
                waiters,
                more,
            });
        }
        judged.rows.insert(row.id, row);
    }
    judged
}

fn waiter(job: &JobRow, demands: &Arc<[Demand]>) -> Waiter {
    Waiter {
        order: job.order(),
        demands: Arc::clone(demands),
        first_start: job.starts == 0,
    }
}

fn candidate(row: &ReadyRow, demands: &Arc<[Demand]>) -> Candidate {
    Candidate {
        waiter: waiter(&row.job, demands),
        route: row.route.clone().into(),
        lane: None,
    }
}

/// The keys of a turn: what was freed, what asked to be looked at, and all that its lanes and candidates ask.
fn keys(
    freed: &BTreeMap<KeyId, usize>,
    looks: Vec<KeyId>,
    judged: &Judged,
    candidates: &[Candidate],
) -> Vec<KeyId> {
    let mut keys: BTreeSet<KeyId> = freed.keys().cloned().chain(looks).collect();
    keys.extend(
        judged
            .rows
            .values()
            .flat_map(|row| row.keys.iter().cloned()),
    );
    let demands = candidates
        .iter()
        .flat_map(|candidate| candidate.waiter.demands.iter());
    keys.extend(demands.map(|demand| demand.key.clone()));
    keys.into_iter().collect()
}

/// The key set of a job as a lane has it.
pub(super) fn key_set(demands: &[Demand]) -> Vec<KeyId> {
    let mut keys: Vec<KeyId> = demands.iter().map(|demand| demand.key.clone()).collect();
    keys.sort_unstable();
    keys
}

/// Reads keys, and the lanes that these candidates would join, numbered like them.
async fn read_keys(
    session: &mut Session,
    asked: &[KeyId],
    candidates: &[Candidate],
) -> Result<Keys, SqliteError> {
    if asked.is_empty() {
        return Ok(Keys::default());
    }
    let key_sets: Vec<_> = candidates
        .iter()
        .map(|candidate| {
            let Route { queue, kind } = &candidate.route;
            serde_json::json!({ "queue": queue, "kind": kind, "keys": json(&key_set(&candidate.waiter.demands)) })
        })
        .collect();
    let statement = sqlx::query(KEYS)
        .bind(json(asked))
        .bind(number(LINE_READ + 1))
        .bind(json(&key_sets));
    session.document(statement).await
}

/// Tells candidates which lane is theirs.
fn join_lanes(candidates: &mut [Candidate], own_lanes: &[(usize, LaneView, LaneRow)]) {
    for (number, view, _) in own_lanes {
        if let Some(candidate) = candidates.get_mut(*number) {
            candidate.lane = Some(view.clone());
        }
    }
}
