//! The turn again, as the rules tell it: one item after the other, every question answered by walking over everything.

mod compare;
mod world;

use warp_policy::Mode;
use warp_policy::Timestamp;
use warp_policy::admission::{Candidate, Cause, Pause, Refusal, Turn, Waiter};
use warp_policy::ids::{JobId, LaneId};

use self::world::{Lane, World};

/// What a turn must come to.
#[derive(Debug)]
pub(super) struct Expected {
    starts: Vec<(JobId, Option<LaneId>, Timestamp)>,
    waits: Vec<(JobId, usize, Refusal)>,
    skips: Vec<(JobId, Option<LaneId>, Refusal)>,
    world: World,
}

enum Verdict {
    Start(Timestamp),
    Wait(Refusal),
    Skip(Refusal),
}

/// Judges everything in one order (R43, R47).
pub(super) fn judge(turn: &Turn) -> Expected {
    let mut expected = Expected {
        starts: Vec::new(),
        waits: Vec::new(),
        skips: Vec::new(),
        world: World::new(turn),
    };
    let mut candidates: Vec<&Candidate> = turn.candidates.iter().collect();
    candidates.sort_by_key(|candidate| candidate.waiter.order);
    candidates.reverse();
    loop {
        let lanes = expected.world.lanes.iter().enumerate();
        let lane = lanes
            .filter(|(_, lane)| lane.to_judge)
            .min_by_key(|(_, lane)| lane.head())
            .map(|(index, _)| index);
        let candidate = candidates.last().map(|candidate| candidate.waiter.order);
        let head = lane.and_then(|index| expected.world.lanes[index].head());
        match (candidate, head, lane) {
            (None, None, _) => return expected,
            (Some(order), Some(head), Some(index)) if head < order => expected.judge_lane(index),
            (None, Some(_), Some(index)) => expected.judge_lane(index),
            _ => {
                let candidate = candidates.pop().expect("a candidate that goes first");
                expected.judge_candidate(candidate);
            }
        }
    }
}

impl Expected {
    fn judge_candidate(&mut self, candidate: &Candidate) {
        let job = candidate.waiter.order.id();
        let lane = self.world.lane_of(candidate);
        match self.world.verdict(&candidate.waiter, lane, true) {
            Verdict::Start(_) if self.world.room == 0 => {}
            Verdict::Start(at) => {
                self.world.take(&candidate.waiter, at);
                self.starts.push((job, None, at));
            }
            Verdict::Skip(refusal) => self.skips.push((job, None, refusal)),
            Verdict::Wait(refusal) => {
                let index = lane.unwrap_or_else(|| self.world.add_lane(candidate, &refusal.key));
                let lane = &mut self.world.lanes[index];
                if lane.head().is_none_or(|head| candidate.waiter.order < head) {
                    lane.displace(candidate.waiter.clone(), &refusal.key);
                }
                self.waits.push((job, index, refusal));
            }
        }
    }

    fn judge_lane(&mut self, index: usize) {
        let lane = &mut self.world.lanes[index];
        lane.to_judge = false;
        let (id, first) = (lane.id, lane.waiters[0].clone());
        if self.world.room == 0 {
            return;
        }
        let job = first.order.id();
        let verdict = self.world.verdict(&first, Some(index), false);
        if let Verdict::Wait(refusal) = verdict {
            return self.world.refuse(index, &refusal.key);
        }
        let lane = &mut self.world.lanes[index];
        if lane.more && lane.waiters.len() == 1 {
            return;
        }
        lane.pop();
        self.world.end_elder(id);
        match verdict {
            Verdict::Start(at) => {
                self.world.take(&first, at);
                self.starts.push((job, id, at));
            }
            Verdict::Skip(refusal) => self.skips.push((job, id, refusal)),
            Verdict::Wait(_) => {}
        }
    }
}

impl World {
    /// The first key that refuses decides (R41).
    fn verdict(&self, waiter: &Waiter, own: Option<usize>, is_new: bool) -> Verdict {
        let demanded = || waiter.demands.iter().map(|demand| &self.keys[&demand.key]);
        let lasts = demanded().filter_map(|key| key.rate.last_start());
        let at = lasts.max().map_or(self.now, |last| last.max(self.now));
        for demand in &*waiter.demands {
            let key = &self.keys[&demand.key];
            let skips = demand.mode == Mode::Skip && waiter.first_start;
            let refused = |cause| Refusal {
                key: demand.key.clone(),
                size: key.size(demand.want),
                used: key.used(demand.want, at),
                cause,
            };
            match key.control.pause {
                Some(Pause::Hold) => return Verdict::Wait(refused(Cause::Paused)),
                Some(_) if skips => return Verdict::Skip(refused(Cause::Paused)),
                Some(_) => return Verdict::Wait(refused(Cause::Paused)),
                None => {}
            }
            let free = key.free(demand.want, at);
            let line = self.line(&demand.key);
            let own_goes_first = own.is_some_and(|own| {
                line.contains(&own) && self.lanes[own].head() < Some(waiter.order)
            });
            let is_elder = !is_new && key.elder.is_some() && key.elder == self.id_of(own);
            let cause = if free == 0 {
                Some(Cause::Full)
            } else if is_new && (own_goes_first || skips && !line.is_empty()) {
                Some(Cause::Line)
            } else if is_elder {
                None
            } else if key.horizon.is_some_and(|horizon| horizon < waiter.order) {
                Some(Cause::Line)
            } else {
                let reserve = u32::from(key.elder.is_some());
                (free <= self.ahead(waiter, &line, key.elder) + reserve).then_some(Cause::Line)
            };
            match cause {
                Some(cause) if skips => return Verdict::Skip(refused(cause)),
                Some(cause) => return Verdict::Wait(refused(cause)),
                None => {}
            }
        }
        Verdict::Start(at)
    }

    /// The lanes ahead that keep a slot or token from this worker (R43).
    fn ahead(&self, waiter: &Waiter, line: &[usize], elder: Option<LaneId>) -> u32 {
        let given_up = self.given_up(line);
        let ahead = line.iter().zip(given_up).filter(|&(&index, is_given_up)| {
            let other = &self.lanes[index];
            other.head() < Some(waiter.order)
                && (elder.is_none() || other.id != elder)
                && !is_given_up
        });
        u32::try_from(ahead.count()).expect("a short line")
    }

    /// Of which lanes others had their second: they did not take the lane, or one before it that they would take first.
    fn given_up(&self, line: &[usize]) -> Vec<bool> {
        let route = |position: usize| &self.lanes[line[position]].route;
        let for_a_second = |since: Timestamp| since.plus_micros(1_000_000) <= self.now;
        let mut given_up: Vec<bool> = Vec::new();
        for (position, &index) in line.iter().enumerate() {
            let was_left = self.lanes[index].next_at.is_some_and(for_a_second);
            let stands_behind_one = || {
                (0..position).any(|before| {
                    given_up[before] && !self.fleet.some_run_only(route(position), route(before))
                })
            };
            let is_foreign = !self.fleet.i_can_run(route(position));
            given_up.push(is_foreign && (was_left || stands_behind_one()));
        }
        given_up
    }

    fn id_of(&self, lane: Option<usize>) -> Option<LaneId> {
        self.lanes[lane?].id
    }

    /// A head was refused: it sleeps on that key, and after too often it is the elder of its keys (R46).
    fn refuse(&mut self, index: usize, key: &warp_policy::admission::KeyId) {
        let lane = &mut self.lanes[index];
        if !lane.is_due(self.now) && lane.sleeps_on == *key {
            return;
        }
        lane.sleep_on(key);
        lane.refusals += 1;
        let head = lane.waiters[0].clone();
        let (id, refusals) = (lane.id, lane.refusals as usize);
        if head.demands.len() < 2 || refusals <= 2 * head.demands.len() {
            return;
        }
        for demand in &*head.demands {
            let present = self.keys[&demand.key].elder;
            let is_older = |present: LaneId| {
                let place = |order: warp_policy::admission::Order| (order.place(), order.id());
                let present = self.elder_heads[&present];
                place(head.order) < place(present)
            };
            if present.is_none_or(is_older) {
                self.elder_heads
                    .insert(id.expect("a stored lane"), head.order);
                self.keys.get_mut(&demand.key).expect("a key").elder = id;
            }
        }
    }
}

impl Lane {
    /// A new job goes before the head.
    fn displace(&mut self, waiter: Waiter, key: &warp_policy::admission::KeyId) {
        self.to_judge = false;
        self.waiters.insert(0, waiter);
        self.sleep_on(key);
        self.refusals = 1;
    }
}
