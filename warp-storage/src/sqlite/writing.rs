//! What a turn writes.

use std::collections::BTreeMap;

use sqlx::Row;
use warp_policy::admission::plan;
use warp_policy::ids::{ClaimId, JobId};

use super::error::SqliteError;
use super::lines::lane_id;
use super::reading::Last;
use super::statements::{JUDGED, SLOTS, TURN_END};
use super::turn::{Taken, Taking};
use super::writer::{Session, text};
use crate::model::Dispatched;
use crate::sql::decided::{Decided, JudgedRow, leaves_lanes, wakes_others};
use crate::sql::documents::{Agenda, json};
use crate::sql::ends::Ended;
use crate::sql::lines::{Heads, LineWrites};
use crate::sql::log::LogLines;
use crate::sql::reading::Reading;

impl Taking<'_> {
    /// Decides, and writes what was decided, with what ended and what failed before.
    pub(super) async fn write(
        &self,
        session: &mut Session,
        reading: Reading,
        last: Last,
        (ended, mut failed, mut log): (Ended, Vec<(JobId, String)>, LogLines),
    ) -> Result<Taken, SqliteError> {
        let heads = Heads::of(&reading.turn);
        let plan = plan(reading.turn);
        let decided = Decided {
            plan: &plan,
            jobs: &reading.jobs,
            worker: self.dispatch.worker,
            now: self.now,
        };
        let mut rows = decided.failures(&reading.failed, &mut log);
        failed.extend(reading.failed);
        let claims = starts(&decided, last, &mut rows, &mut log);
        decided.refusals(&mut rows, &mut log);
        for row in &mut rows {
            let new = row.new_lane.map(warp_policy::admission::LaneRef::New);
            row.lane = row.lane.or(new.map(|lane| lane_id(lane, last.lane)));
        }

        let written = self.write_jobs(session, &rows, claims).await?;
        let starts = plan.starts.iter();
        let slots: Vec<_> = starts
            .flat_map(|start| decided.slots_of(start.job))
            .collect();
        if !slots.is_empty() {
            let statement = sqlx::query(SLOTS).bind(json(&slots));
            session.execute(statement).await?;
        }
        LineWrites::of(&plan, &heads, &reading.lanes, &reading.looked_at)
            .write(session, last.lane)
            .await?;
        log.write(session, last.line, self.now).await?;
        let agenda = self.end_turn(session).await?;

        let started = decided.started(written);
        let is_full = started.len() == self.dispatch.room;
        let others_care = ended.comes_back
            || wakes_others(&plan, &reading.lanes, &reading.fleet)
            || (is_full && leaves_lanes(&agenda, &reading.fleet));
        let dispatched = Dispatched {
            now: self.now,
            started,
            refused: plan.waits.len() + plan.skips.len(),
            failed,
            stale: ended.stale,
            left: Vec::new(),
            cancelled: self.cancelled.clone(),
            next_at: agenda.next_at(self.now),
        };
        Ok(Taken {
            dispatched,
            others_care,
        })
    }

    /// Writes the jobs. Returns the claims and payloads of those that start.
    async fn write_jobs(
        &self,
        session: &mut Session,
        rows: &[JudgedRow],
        claims: BTreeMap<JobId, ClaimId>,
    ) -> Result<BTreeMap<JobId, (ClaimId, String)>, SqliteError> {
        let mut written = BTreeMap::new();
        if rows.is_empty() {
            return Ok(written);
        }
        let statement = sqlx::query(JUDGED)
            .bind(json(rows))
            .bind(self.dispatch.worker.get());
        for row in session.rows(statement).await? {
            let read = (row.try_get::<i64, _>(0), text(&row, 1));
            match read {
                (Ok(id), Ok(Some(payload))) => {
                    let id = JobId::new(id);
                    written.extend(claims.get(&id).map(|&claim| (id, (claim, payload))));
                }
                (Ok(_), Ok(None)) => {}
                (Err(error), _) | (_, Err(error)) => return Err(session.damaged(error.to_string())),
            }
        }
        Ok(written)
    }

    /// Notes the turn, by which the worker also says that it is alive.
    async fn end_turn(&self, session: &mut Session) -> Result<Agenda, SqliteError> {
        let turn = i64::try_from(self.dispatch.turn).unwrap_or(i64::MAX);
        let statement = sqlx::query(TURN_END)
            .bind(self.dispatch.worker.get())
            .bind(self.now.as_micros())
            .bind(turn);
        session.document(statement).await
    }
}

/// Jobs that start, with their claims.
fn starts(
    decided: &Decided<'_>,
    last: Last,
    rows: &mut Vec<JudgedRow>,
    log: &mut LogLines,
) -> BTreeMap<JobId, ClaimId> {
    let mut claims = BTreeMap::new();
    for start in &decided.plan.starts {
        let attempt = decided.attempt(start.job);
        let claim = log.start(start.job, decided.worker, attempt, last.line);
        rows.push(JudgedRow {
            claim: Some(claim),
            ..decided.start(start.job, start.at)
        });
        claims.insert(start.job, claim);
    }
    claims
}
