//! From rows to what the planner judges, and what cannot be judged.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use warp_policy::Stamp;
use warp_policy::admission::{Candidate, Demand, KeyId, Lane, LaneView, Route, Waiter, demands};
use warp_policy::ids::{JobId, LaneId};

use super::documents::{JobRow, JudgedLane, LaneRow, NumberedLane, ReadyRow};
use super::stamps::Stamps;
use crate::model::Resolution;
use crate::stamp::OTHER_KEYS;

/// What is known of the jobs of a turn.
#[derive(Debug, Default)]
pub(crate) struct Judging {
    stamps: Stamps,
    /// The jobs that can be judged.
    pub(crate) jobs: BTreeMap<JobId, Read>,
    /// Waiting jobs that have to be mended before anything is decided.
    pub(crate) unreadable: Vec<Unreadable>,
    /// Ready jobs that have to fail.
    pub(crate) failed: Vec<(JobId, String)>,
}

/// A waiting job that cannot be judged.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Unreadable {
    pub(crate) job: JobId,
    pub(crate) lane: LaneId,
    #[cfg(feature = "postgres")]
    #[serde(skip)]
    pub(crate) keys: Vec<KeyId>,
    pub(crate) error: String,
}

/// What has to be known of a job that is judged.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) route: Route,
    pub(crate) attempts: u32,
    pub(crate) demands: Arc<[Demand]>,
    /// The stamp, where it was resolved for this turn.
    pub(crate) stamp: Option<Stamp>,
}

impl Judging {
    /// The lanes with their first jobs. One more than fit the room and are judged was read of each, to know whether there are more.
    pub(crate) fn lanes(&mut self, rows: &mut [JudgedLane], room: usize) -> Vec<Lane> {
        rows.iter_mut()
            .filter_map(|row| self.lane(&row.lane, std::mem::take(&mut row.jobs), room))
            .collect()
    }

    fn lane(&mut self, row: &LaneRow, mut jobs: Vec<JobRow>, room: usize) -> Option<Lane> {
        let more = jobs.len() > room + 1;
        jobs.truncate(room + 1);
        let waiters: Vec<Waiter> = jobs
            .iter()
            .filter_map(|job| self.waiter(row, job))
            .collect();
        let head = waiters.first()?;
        let demand = head
            .demands
            .iter()
            .find(|demand| demand.key == row.sleeps_on())?
            .clone();
        Some(Lane {
            view: view_with(row, demand),
            waiters,
            more,
        })
    }

    fn waiter(&mut self, row: &LaneRow, job: &JobRow) -> Option<Waiter> {
        match self.stamps.demands_in(row, job.stamp.as_deref()) {
            Ok(demands) => {
                let waiter = waiter(job, &demands);
                let route = row.route.clone().into();
                self.jobs.insert(
                    job.id,
                    Read {
                        route,
                        attempts: job.attempts,
                        demands,
                        stamp: None,
                    },
                );
                Some(waiter)
            }
            Err(error) => {
                self.note_unreadable(job.id, row, error);
                None
            }
        }
    }

    /// The ready jobs. One that is not stamped was resolved before the turn, or became ready after the resolver was asked: then the next
    /// turn has it.
    pub(crate) fn candidates(
        &mut self,
        rows: Vec<ReadyRow>,
        resolutions: &BTreeMap<JobId, Resolution>,
    ) -> Vec<Candidate> {
        let mut candidates = Vec::with_capacity(rows.len());
        for ReadyRow { route, job } in rows {
            let read = match (&job.stamp, resolutions.get(&job.id)) {
                (Some(text), _) => self.stamps.demands(text).map(|demands| (demands, None)),
                (None, Some(Resolution::Stamp(stamp))) => Ok((demands(stamp), Some(stamp.clone()))),
                (None, Some(Resolution::Fail(error))) => Err(error.clone()),
                (None, None) => continue,
            };
            match read {
                Ok((demands, stamp)) => {
                    let route: Route = route.into();
                    candidates.push(Candidate {
                        waiter: waiter(&job, &demands),
                        route: route.clone(),
                        lane: None,
                    });
                    self.jobs.insert(
                        job.id,
                        Read {
                            route,
                            attempts: job.attempts,
                            demands,
                            stamp,
                        },
                    );
                }
                Err(error) => self.failed.push((job.id, error)),
            }
        }
        candidates
    }

    /// Tells candidates which lane is theirs. Returns these lanes.
    pub(crate) fn join_lanes(
        &mut self,
        candidates: &mut [Candidate],
        lanes: Vec<NumberedLane>,
    ) -> Vec<(LaneId, LaneRow)> {
        let mut own = Vec::with_capacity(lanes.len());
        for NumberedLane { number, lane } in lanes {
            let view = self.view(&lane);
            if let Some(candidate) = candidates.get_mut(number) {
                candidate.lane = view;
            }
            own.push((lane.id, lane));
        }
        own
    }

    /// A lane as its key's line shows it; `None` where its head has to fail.
    pub(crate) fn view(&mut self, lane: &LaneRow) -> Option<LaneView> {
        let demands = self.stamps.demands_in(lane, lane.stamp.as_deref());
        let sleeps_on = lane.sleeps_on();
        let of_key = |demands: Arc<[Demand]>| {
            demands
                .iter()
                .find(|demand| demand.key == sleeps_on)
                .cloned()
        };
        match demands.and_then(|demands| of_key(demands).ok_or_else(|| OTHER_KEYS.to_owned())) {
            Ok(demand) => Some(view_with(lane, demand)),
            Err(error) => {
                self.note_unreadable(lane.head, lane, error);
                None
            }
        }
    }

    /// A job may be seen as the head of its lane several times.
    fn note_unreadable(&mut self, job: JobId, lane: &LaneRow, error: String) {
        if self.unreadable.iter().all(|known| known.job != job) {
            self.unreadable.push(Unreadable {
                job,
                lane: lane.id,
                #[cfg(feature = "postgres")]
                keys: lane.keys.clone(),
                error,
            });
        }
    }
}

fn waiter(job: &JobRow, demands: &Arc<[Demand]>) -> Waiter {
    Waiter {
        order: job.order(),
        demands: Arc::clone(demands),
        first_start: job.starts == 0,
    }
}

fn view_with(row: &LaneRow, demand: Demand) -> LaneView {
    LaneView {
        id: row.id,
        route: row.route.clone().into(),
        head: row.order(),
        demand,
        next_at: row.next_at,
        refusals: row.refusals,
    }
}

/// The key set of a job as a lane has it.
pub(crate) fn key_set(demands: &[Demand]) -> Vec<KeyId> {
    let mut keys: Vec<KeyId> = demands.iter().map(|demand| demand.key.clone()).collect();
    keys.sort_unstable();
    keys
}
