//! What a turn writes.

use std::collections::BTreeMap;

use serde::Serialize;
use sqlx::Row;
use warp_policy::Timestamp;
use warp_policy::admission::{Family, Fleet, Plan, Route, Want, plan};
use warp_policy::ids::{ClaimId, JobId, LaneId};

use super::documents::{Agenda, LaneRow, json};
use super::error::SqliteError;
use super::judging::Read;
use super::lines::{LineWrites, lane_id};
use super::log::LogLines;
use super::reading::Reading;
use super::statements::{JUDGED, SLOTS, TURN_END};
use super::turn::{Ended, Taken, Taking};
use super::writer::{Session, text};
use crate::model::{Counter, Dispatched, Event, JobState, Started};

/// A judged job as `judged.sql` takes it.
#[derive(Default, Serialize)]
struct JudgedRow {
    job: Option<JobId>,
    state: Option<JobState>,
    lane: Option<LaneId>,
    claim: Option<ClaimId>,
    at: Option<Timestamp>,
    ended_at: Option<Timestamp>,
    stamp: Option<String>,
    error: Option<String>,
}

/// A slot as `slots.sql` takes it.
#[derive(Serialize)]
struct SlotRow<'a> {
    family: Family,
    key: &'a str,
    job: JobId,
}

impl Taking<'_> {
    /// Decides, and writes what was decided.
    pub(super) async fn write(
        &self,
        session: &mut Session,
        reading: Reading,
        ended: Ended,
        mut failed: Vec<(JobId, String)>,
        mut log: LogLines,
    ) -> Result<Taken, SqliteError> {
        let Reading {
            turn,
            fleet,
            lanes,
            looked_at,
            jobs,
            failed: unresolvable,
            last_line,
            last_lane,
        } = reading;
        let plan = plan(turn);
        log.follow(last_line);
        let mut rows = self.failures(&unresolvable, &mut log);
        failed.extend(unresolvable);
        let claims = self.starts(&plan, &jobs, &mut rows, &mut log);
        self.refusals(&plan, &jobs, last_lane, &mut rows, &mut log);

        let mut payloads = self.write_jobs(session, &rows).await?;
        write_slots(session, &plan, &jobs).await?;
        LineWrites::of(&plan, &lanes, &looked_at, last_lane)
            .write(session)
            .await?;
        log.write(session, self.now).await?;
        let agenda = self.end_turn(session).await?;

        let started: Vec<Started> = plan
            .starts
            .iter()
            .zip(claims)
            .filter_map(|(start, claim)| {
                let read = jobs.get(&start.job)?;
                Some(Started {
                    job: start.job,
                    claim,
                    kind: read.route.kind.clone(),
                    queue: read.route.queue.clone(),
                    payload: payloads.remove(&start.job)?,
                    attempt: read.attempts + 1,
                    admitted_at: start.at,
                })
            })
            .collect();
        let is_full = started.len() == self.dispatch.room;
        let others_care = ended.comes_back
            || wakes_others(&plan, &lanes, &fleet)
            || (is_full && leaves_lanes(&agenda, &fleet));
        let dispatched = Dispatched {
            now: self.now,
            started,
            refused: plan.waits.len() + plan.skips.len(),
            failed,
            stale: ended.stale,
            next_at: agenda.next_at(self.now),
        };
        Ok(Taken {
            dispatched,
            others_care,
        })
    }

    /// Ready jobs that cannot be judged.
    fn failures(&self, failed: &[(JobId, String)], log: &mut LogLines) -> Vec<JudgedRow> {
        let failure = |(job, error): &(JobId, String)| {
            log.failed(*job, Some(self.dispatch.worker), error);
            JudgedRow {
                job: Some(*job),
                state: Some(JobState::Failed),
                ended_at: Some(self.now),
                error: Some(error.clone()),
                ..JudgedRow::default()
            }
        };
        failed.iter().map(failure).collect()
    }

    /// Jobs that start. Returns their claims.
    fn starts(
        &self,
        plan: &Plan,
        jobs: &BTreeMap<JobId, Read>,
        rows: &mut Vec<JudgedRow>,
        log: &mut LogLines,
    ) -> Vec<ClaimId> {
        let mut claims = Vec::with_capacity(plan.starts.len());
        for start in &plan.starts {
            let claim = log.next_claim();
            let attempt = jobs.get(&start.job).map_or(1, |read| read.attempts + 1);
            log.add(
                start.job,
                Some(self.dispatch.worker),
                &Event::Started { attempt, claim },
                None,
            );
            rows.push(JudgedRow {
                state: Some(JobState::Processing),
                claim: Some(claim),
                at: Some(start.at),
                ..judged(start.job, jobs)
            });
            claims.push(claim);
        }
        claims
    }

    /// Jobs that wait, and jobs that are skipped.
    fn refusals(
        &self,
        plan: &Plan,
        jobs: &BTreeMap<JobId, Read>,
        last_lane: i64,
        rows: &mut Vec<JudgedRow>,
        log: &mut LogLines,
    ) {
        let worker = Some(self.dispatch.worker);
        for wait in &plan.waits {
            let counter = match wait.refusal.key.family {
                Family::RateLimit => Counter::RequeuedRatelimit,
                _ => Counter::RequeuedConcurrency,
            };
            log.add(
                wait.job,
                worker,
                &Event::Waiting(wait.refusal.clone()),
                Some(counter),
            );
            rows.push(JudgedRow {
                state: Some(JobState::Waiting),
                lane: Some(lane_id(wait.lane, last_lane)),
                ..judged(wait.job, jobs)
            });
        }
        for skip in &plan.skips {
            let counter = match skip.refusal.key.family {
                Family::RateLimit => Counter::DeletedRatelimit,
                _ => Counter::DeletedConcurrency,
            };
            log.add(
                skip.job,
                worker,
                &Event::Skipped(skip.refusal.clone()),
                Some(counter),
            );
            rows.push(JudgedRow {
                state: Some(JobState::Deleted),
                ended_at: Some(self.now),
                ..judged(skip.job, jobs)
            });
        }
    }

    /// Writes the jobs. Returns the payloads of those that start.
    async fn write_jobs(
        &self,
        session: &mut Session,
        rows: &[JudgedRow],
    ) -> Result<BTreeMap<JobId, String>, SqliteError> {
        let mut payloads = BTreeMap::new();
        if rows.is_empty() {
            return Ok(payloads);
        }
        let statement = sqlx::query(JUDGED)
            .bind(json(rows))
            .bind(self.dispatch.worker.get());
        for row in session.rows(statement).await? {
            let read = (row.try_get::<i64, _>(0), text(&row, 1));
            match read {
                (Ok(id), Ok(Some(payload))) => {
                    payloads.insert(JobId::new(id), payload);
                }
                (Ok(_), Ok(None)) => {}
                (Err(error), _) | (_, Err(error)) => return Err(session.damaged(error.to_string())),
            }
        }
        Ok(payloads)
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

/// What every judged job has in common: the stamp is written by the turn that judges it first (R21).
fn judged(job: JobId, jobs: &BTreeMap<JobId, Read>) -> JudgedRow {
    let stamp = jobs.get(&job).and_then(|read| read.stamp.as_ref());
    JudgedRow {
        job: Some(job),
        stamp: stamp.map(json),
        ..JudgedRow::default()
    }
}

/// Takes the slots of the jobs that start, to be held while they run (R52).
async fn write_slots(
    session: &mut Session,
    plan: &Plan,
    jobs: &BTreeMap<JobId, Read>,
) -> Result<(), SqliteError> {
    let of_job = |job: JobId| {
        let demands = jobs
            .get(&job)
            .into_iter()
            .flat_map(|read| read.demands.iter());
        demands
            .filter(|demand| matches!(demand.want, Want::Slot { .. }))
            .map(move |demand| SlotRow {
                family: demand.key.family,
                key: demand.key.key.as_str(),
                job,
            })
    };
    let slots: Vec<SlotRow<'_>> = plan
        .starts
        .iter()
        .flat_map(|start| of_job(start.job))
        .collect();
    if slots.is_empty() {
        return Ok(());
    }
    session.execute(sqlx::query(SLOTS).bind(json(&slots))).await
}

/// Whether a plan lets a lane wake that this worker cannot take itself.
fn wakes_others(plan: &Plan, lanes: &BTreeMap<LaneId, LaneRow>, fleet: &Fleet) -> bool {
    let new = plan
        .new_lanes
        .iter()
        .map(|lane| (lane.route.clone(), lane.next_at));
    let changed = plan.lanes.iter().filter_map(|update| {
        let route = lanes.get(&update.lane)?.route.clone();
        Some((Route::from(route), update.state.as_ref()?.next_at))
    });
    let mut waking = new.chain(changed).filter(|(_, next_at)| next_at.is_some());
    waking.any(|(route, _)| !fleet.i_can_run(&route))
}

/// Whether lanes of this worker's routes are, or will be, due that another worker can take. One without room must tell: the others may
/// not have looked since the lanes were timed, and it will not be there at that time.
fn leaves_lanes(agenda: &Agenda, fleet: &Fleet) -> bool {
    let mut others = fleet.workers.iter().filter(|worker| worker.id != fleet.me);
    others.any(|other| {
        agenda
            .lanes
            .iter()
            .any(|lane| other.serves(&lane.route.clone().into()))
    })
}
