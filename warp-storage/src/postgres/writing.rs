//! What a turn writes.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use warp_policy::Timestamp;
use warp_policy::admission::plan;
use warp_policy::ids::{ClaimId, JobId, LaneId, WorkerId};

use super::Inner;
use super::error::PostgresError;
use super::reading::Read;
use super::session::{Session, statement};
use super::turn::{Taken, Taking};
use crate::model::Dispatched;
use crate::sql::decided::{Decided, JudgedRow, leaves_lanes, wakes_others};
use crate::sql::documents::{Agenda, LaneRow, json};
use crate::sql::ends::Ended;
use crate::sql::lines::{Heads, LaneWrite, LineWrites};
use crate::sql::log::LogLines;

/// When a turn that found keys held by others and did nothing is worth another one.
const ASKS_AGAIN: Duration = Duration::from_millis(10);

/// Everything that is written at once.
pub(super) struct Writes<'a> {
    pub(super) worker: Option<WorkerId>,
    pub(super) now: Timestamp,
    pub(super) jobs: &'a [JudgedRow],
    pub(super) lines: &'a LineWrites,
    /// The lanes as they were read.
    pub(super) lanes: &'a BTreeMap<LaneId, LaneRow>,
    pub(super) log: &'a LogLines,
}

/// The head that a lane had when it was read; by it the row is found.
#[derive(Serialize)]
struct OldHead {
    #[serde(rename = "old_rank")]
    rank: i64,
    #[serde(rename = "old_place")]
    place: Timestamp,
    #[serde(rename = "old_head")]
    job: JobId,
}

#[derive(Serialize)]
struct ChangedLine<'a> {
    #[serde(flatten)]
    lane: &'a LaneWrite,
    #[serde(flatten)]
    old: OldHead,
}

#[derive(Serialize)]
struct GoneLane {
    id: LaneId,
    #[serde(flatten)]
    old: OldHead,
}

#[derive(Deserialize)]
struct Written {
    started: Vec<WrittenStart>,
}

#[derive(Deserialize)]
struct WrittenStart {
    job: JobId,
    claim: ClaimId,
    payload: String,
}

impl Writes<'_> {
    fn is_empty(&self) -> bool {
        let LineWrites {
            lanes,
            new,
            gone,
            limiters,
        } = self.lines;
        self.jobs.is_empty()
            && lanes.is_empty()
            && new.is_empty()
            && gone.is_empty()
            && limiters.is_empty()
            && self.log.lines.is_empty()
    }

    fn old_head(&self, lane: LaneId) -> Option<OldHead> {
        let row = self.lanes.get(&lane)?;
        Some(OldHead {
            rank: row.rank,
            place: row.place,
            job: row.head,
        })
    }
}

impl Inner {
    /// Writes it. Returns the claims and payloads of the jobs that start.
    pub(super) async fn write(
        &self,
        session: &mut Session,
        writes: &Writes<'_>,
    ) -> Result<BTreeMap<JobId, (ClaimId, String)>, PostgresError> {
        if writes.is_empty() {
            return Ok(BTreeMap::new());
        }
        let changed = writes.lines.lanes.iter().filter_map(|lane| {
            let old = writes.old_head(lane.id?)?;
            Some(ChangedLine { lane, old })
        });
        let gone = writes.lines.gone.iter().filter_map(|&id| {
            let old = writes.old_head(id)?;
            Some(GoneLane { id, old })
        });
        let statement = statement(&self.statements.write)
            .bind(writes.worker.map(WorkerId::get))
            .bind(writes.now.as_micros())
            .bind(json(writes.jobs))
            .bind(json(&writes.lines.new))
            .bind(json(&changed.collect::<Vec<_>>()))
            .bind(json(&gone.collect::<Vec<_>>()))
            .bind(json(&writes.lines.limiters))
            .bind(json(&writes.log.lines));
        let written: Written = session.document(statement).await?;
        let started = written.started.into_iter();
        Ok(started
            .map(|start| (start.job, (start.claim, start.payload)))
            .collect())
    }
}

impl Taking<'_> {
    /// Decides, writes what was decided, and commits.
    pub(super) async fn write(
        &self,
        mut session: Session,
        Read { now, reading }: Read,
        ended: Ended,
        mut log: LogLines,
        leaves_keys: bool,
    ) -> Result<Taken, PostgresError> {
        let heads = Heads::of(&reading.turn);
        let plan = plan(reading.turn);
        let decided = Decided {
            plan: &plan,
            jobs: &reading.jobs,
            worker: self.dispatch.worker,
            now,
        };
        let mut rows = decided.failures(&reading.failed, &mut log);
        rows.extend(plan.starts.iter().map(|start| JudgedRow {
            slots: decided.slots_of(start.job).collect(),
            ..decided.start(start.job, start.at)
        }));
        decided.refusals(&mut rows, &mut log);
        let written = self
            .inner
            .write(
                &mut session,
                &Writes {
                    worker: Some(self.dispatch.worker),
                    now,
                    jobs: &rows,
                    lines: &LineWrites::of(&plan, &heads, &reading.lanes, &reading.looked_at),
                    lanes: &reading.lanes,
                    log: &log,
                },
            )
            .await?;
        let agenda = self.end_turn(&mut session, now).await?;
        session.commit().await?;

        let started = decided.started(written);
        let is_full = started.len() == self.dispatch.room;
        let others_care = ended.comes_back
            || wakes_others(&plan, &reading.lanes, &reading.fleet)
            || (is_full && leaves_lanes(&agenda, &reading.fleet));
        let did_something = !rows.is_empty() || !self.dispatch.finished.is_empty();
        let mut next_at = agenda.next_at(now);
        if leaves_keys && !did_something {
            // Others hold what it could have judged. They tell nobody when they give it back.
            next_at = next_at.map(|at| at.max(now.plus(ASKS_AGAIN)));
        }
        Ok(Taken {
            dispatched: Dispatched {
                now,
                started,
                refused: plan.waits.len() + plan.skips.len(),
                failed: reading.failed,
                stale: ended.stale,
                left: Vec::new(),
                cancelled: self.cancelled.clone(),
                next_at,
            },
            others_care,
        })
    }

    /// Notes the turn, by which the worker also says that it is alive.
    async fn end_turn(
        &self,
        session: &mut Session,
        now: Timestamp,
    ) -> Result<Agenda, PostgresError> {
        let turn = i64::try_from(self.dispatch.turn).unwrap_or(i64::MAX);
        let statement = statement(&self.inner.statements.turn_end)
            .bind(self.dispatch.worker.get())
            .bind(now.as_micros())
            .bind(turn);
        session.document(statement).await
    }
}

impl Taken {
    /// Notes the attempts that could not be written. They are asked for again at once.
    pub(super) fn leaving(mut self, left: Vec<ClaimId>) -> Self {
        if !left.is_empty() {
            self.dispatched.next_at = Some(self.dispatched.now);
        }
        self.dispatched.left = left;
        self
    }
}
