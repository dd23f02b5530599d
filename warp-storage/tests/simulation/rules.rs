//! What must hold after a turn, whenever everybody had one, and at the end.

use std::collections::BTreeMap;

use warp_policy::Mode;
use warp_policy::admission::{Cause, Family, Order};
use warp_policy::ids::JobId;
use warp_storage::conformance::DAWN;
use warp_storage::model::{Dispatched, End, Event, Job, JobFilter, JobState};

use crate::Result;
use crate::jobs::{RATES, keys, limit};
use crate::worker::Mood;
use crate::world::World;

impl World {
    pub(crate) async fn waiting(&self) -> Result<Vec<Job>> {
        self.jobs_in(JobState::Waiting).await
    }

    async fn jobs_in(&self, state: JobState) -> Result<Vec<Job>> {
        let filter = JobFilter {
            state: Some(state),
            limit: usize::MAX,
            ..JobFilter::default()
        };
        Ok(self.store().jobs(filter).await?)
    }

    /// What a worker's turn started and skipped. `before` are the jobs that waited when it began.
    pub(crate) async fn check_turn(
        &mut self,
        index: usize,
        turn: &Dispatched,
        before: &[Job],
    ) -> Result<()> {
        if turn.started.is_empty() && turn.refused == 0 {
            return Ok(());
        }
        let worker = &self.workers[index];
        for started in &turn.started {
            if !worker.serves(&started.queue, &started.kind) {
                return Err("it got a job that it does not serve".into());
            }
            let job = &self.jobs[&started.job];
            self.witness.start(started, job, worker.inner.id)?;
        }
        let after = self.waiting().await?;
        for started in &turn.started {
            self.check_order(index, started.job, before, &after).await?;
        }
        for job in self.jobs_in(JobState::Deleted).await? {
            if self.skipped.insert(job.id) {
                self.check_skip(job.id, before, &after).await?;
            }
        }
        Ok(())
    }

    /// R43: within a lane, and within the line of one key among those that this worker can run, nobody overtakes who waited already.
    async fn check_order(
        &self,
        index: usize,
        id: JobId,
        before: &[Job],
        after: &[Job],
    ) -> Result<()> {
        let view = self.store().job(id).await?.ok_or("gone")?;
        let order = |view: &Job| Order::new(view.priority, view.place, view.id);
        let job = &self.jobs[&id];
        let own = keys(job);
        let is_ahead = |other: &&Job| {
            let waited = before.iter().any(|job| job.id == other.id);
            waited && order(other) < order(&view) && keys(&self.jobs[&other.id]) == own
        };
        let ahead: Vec<&Job> = after.iter().filter(is_ahead).collect();
        // Where more than one can go, what is left for those ahead may be taken by the next turn.
        let is_line = own.len() == 1 && limit(job) == 1;
        for other in ahead {
            let is_of_lane = other.kind == view.kind && other.queue == view.queue;
            let is_served = self.workers[index].serves(&other.queue, &other.kind);
            if is_of_lane || (is_line && is_served) {
                return Err(format!("job {id} overtook {}", other.id).into());
            }
        }
        Ok(())
    }

    /// R41: only a first start is skipped, by a policy that skips, of a key that is full or has waiters.
    async fn check_skip(&self, id: JobId, before: &[Job], after: &[Job]) -> Result<()> {
        let log = self.store().log(id).await?;
        let Some(Event::Skipped(refusal)) = log.last().map(|entry| &entry.event) else {
            return Err(format!("job {id} was deleted: {log:?}").into());
        };
        let job = &self.jobs[&id];
        let key = refusal.key.key.as_str();
        let is_slot = refusal.key.family == Family::Concurrency;
        let slot = job.explicit.concurrency.iter().filter(|_| is_slot);
        let rates = job.explicit.rate_limits.iter().filter(|_| !is_slot);
        let mut modes = slot
            .map(|spec| (spec.key(), spec.mode()))
            .chain(rates.map(|spec| (spec.key(), spec.mode())));
        if self.witness.has_started(id) || !modes.any(|mode| mode == (&refusal.key.key, Mode::Skip))
        {
            return Err(format!("job {id} was skipped by `{key}`: {log:?}").into());
        }
        let holds = match refusal.cause {
            Cause::Full if is_slot => self.witness.held(key) >= limit(job) as usize,
            Cause::Full => !self.knows_of_token(key),
            _ => {
                before.iter().chain(after).any(|other| {
                    let serves = |worker: &&crate::worker::Worker| {
                        self.known.contains(&worker.inner.id)
                            && worker.serves(&other.queue, &other.kind)
                    };
                    let name = if is_slot { "slot" } else { "token" };
                    keys(&self.jobs[&other.id]).contains(&format!("{name} {key}"))
                        && self.workers.iter().any(|worker| serves(&worker))
                }) || self.is_disturbed
            }
        };
        if holds {
            return Ok(());
        }
        Err(format!("job {id} was skipped, but nothing was in its way: {refusal:?}").into())
    }

    /// Whether one more start under a rate key is certainly within the limit: not where starts may count that the witness has forgotten.
    /// A bucket that is asked all the time goes on counting them.
    fn knows_of_token(&self, key: &str) -> bool {
        let knows = match key {
            "bucket" => self.odd_until == DAWN,
            _ => self.now() >= self.odd_until,
        };
        knows && self.witness.has_token(key, self.now())
    }

    /// R40, R44: once everybody had a turn, nobody is left who could start: what a refused job would have taken is not gone.
    pub(crate) async fn check_rest(&self) -> Result<()> {
        let has_room = |job: &Job| {
            self.workers.iter().any(|worker| {
                let is_there = worker.mood == Mood::Works && self.known.contains(&worker.inner.id);
                let can = is_there && worker.has_room();
                can && worker.serves(&job.queue, &job.kind)
            })
        };
        let ready = self.jobs_in(JobState::Enqueued).await?;
        if let Some(job) = ready.iter().find(|&job| has_room(job)) {
            return Err(format!("job {} is ready, and nobody takes it", job.id).into());
        }
        let waiting = self.waiting().await?;
        let mut asked = BTreeMap::<String, usize>::new();
        for key in waiting.iter().flat_map(|job| keys(&self.jobs[&job.id])) {
            *asked.entry(key).or_default() += 1;
        }
        for job in waiting.iter().filter(|&job| has_room(job)) {
            let own = keys(&self.jobs[&job.id]);
            let is_alone = own.iter().all(|key| asked.get(key) == Some(&1));
            if is_alone && !self.is_behind() && self.admits(job.id) {
                return Err(format!("job {} waits for nothing: {:?}", job.id, job.waiting).into());
            }
        }
        Ok(())
    }

    fn admits(&self, id: JobId) -> bool {
        let job = &self.jobs[&id];
        let slot = job.explicit.concurrency.as_ref();
        let is_free = |key: &str| self.witness.held(key) < limit(job) as usize;
        let mut rates = RATES.iter().filter(|rate| {
            let mut limits = job.explicit.rate_limits.iter();
            limits.any(|spec| spec.key().as_str() == rate.0)
        });
        slot.is_none_or(|spec| is_free(spec.key().as_str()))
            && rates.all(|rate| self.knows_of_token(rate.0))
    }

    /// R82: every job is recorded exactly once, as it ended, and nothing is left.
    pub(crate) async fn check_end(&self) -> Result<()> {
        let leftovers = self.backend.leftovers().await;
        if !self.witness.is_idle() || leftovers.is_some_and(|left| left != (0, 0)) {
            return Err(format!("slots and lanes are left: {leftovers:?}").into());
        }
        for &id in self.jobs.keys() {
            let job = self.store().job(id).await?.ok_or("gone")?;
            let log = self.store().log(id).await?;
            let ends = |event: &Event| {
                matches!(
                    event,
                    Event::Succeeded | Event::Failed { .. } | Event::Skipped(_)
                )
            };
            if log.iter().filter(|entry| ends(&entry.event)).count() != 1 {
                return Err(format!("job {id} was not recorded exactly once: {log:?}").into());
            }
            let history = self.witness.histories.get(&id);
            let state = match history.and_then(|history| history.end.as_ref()) {
                Some(End::Succeeded) => JobState::Succeeded,
                Some(_) => JobState::Failed,
                None => JobState::Deleted,
            };
            let (attempts, lost) = history.map_or((0, 0), |history| {
                let undone = history.returned + history.lost;
                (history.starts - undone, history.lost)
            });
            if (job.state, job.attempts, job.lost) != (state, attempts, lost) {
                return Err(format!("{job:?} instead of {history:?}").into());
            }
        }
        Ok(())
    }
}
