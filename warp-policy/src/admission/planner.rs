//! The turn itself: jobs and lane heads in one order, and where each of them ends up.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::book::Book;
use super::fleet::Fleet;
use super::judge::Verdict;
use super::lanes::{LaneIndex, Lanes};
use super::model::{KeyId, Order, Route};
use super::plan::{KeyUpdate, Plan, Refusal, Skip, Start, Wait};
use super::turn::{Candidate, Elder, LaneView, Turn, Waiter};
use crate::ids::{JobId, LaneId};
use crate::time::Timestamp;

/// A turn being decided.
#[derive(Debug)]
pub(super) struct Planner {
    pub(super) now: Timestamp,
    pub(super) fleet: Fleet,
    pub(super) keys: BTreeMap<KeyId, Book>,
    pub(super) lanes: Lanes,
    room: usize,
    /// Everything to judge, the first in order on top.
    agenda: BinaryHeap<Reverse<(Order, Item)>>,
    candidates: Vec<Option<Candidate>>,
    elders_before: BTreeMap<KeyId, Option<LaneId>>,
    waits: Vec<(JobId, LaneIndex, Refusal)>,
    plan: Plan,
}

/// Something to judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    Candidate(usize),
    Lane(LaneIndex),
}

impl Planner {
    pub(super) fn new(turn: Turn) -> Self {
        let now = turn.now;
        let mut planner = Self {
            now,
            keys: turn
                .keys
                .iter()
                .map(|(key, state)| (key.clone(), Book::new(state, now)))
                .collect(),
            elders_before: turn
                .keys
                .iter()
                .map(|(key, state)| (key.clone(), state.elder.as_ref().map(|elder| elder.lane)))
                .collect(),
            lanes: Lanes::default(),
            fleet: turn.fleet,
            room: turn.room,
            agenda: BinaryHeap::new(),
            candidates: Vec::new(),
            waits: Vec::new(),
            plan: Plan::default(),
        };
        for lane in turn.lanes {
            let head = lane.view.head;
            let index = planner.lanes.load(lane);
            planner.put_in_line(index);
            planner.agenda.push(Reverse((head, Item::Lane(index))));
        }
        for view in turn.keys.into_values().flat_map(|state| state.line) {
            planner.see(view);
        }
        for (number, mut candidate) in turn.candidates.into_iter().enumerate() {
            if let Some(view) = candidate.lane.take() {
                let index = planner.see(view);
                planner
                    .lanes
                    .join(&candidate.route, &candidate.waiter.demands, index);
            }
            planner
                .agenda
                .push(Reverse((candidate.waiter.order, Item::Candidate(number))));
            planner.candidates.push(Some(candidate));
        }
        planner.drop_dead_elders();
        planner
    }

    pub(super) fn run(mut self) -> Plan {
        while let Some(Reverse((order, item))) = self.agenda.pop() {
            match item {
                Item::Candidate(number) => {
                    if let Some(candidate) = self.candidates[number].take() {
                        self.judge_candidate(candidate);
                    }
                }
                Item::Lane(index) => self.judge_lane(index, order),
            }
        }
        self.restore_lines();
        self.finish()
    }

    fn judge_candidate(&mut self, Candidate { waiter, route, .. }: Candidate) {
        let lane = self.lanes.find(&route, &waiter.demands);
        match self.judge(&waiter, lane) {
            Verdict::Start(at) => {
                if self.room > 0 {
                    self.start(&waiter, None, at);
                }
            }
            Verdict::Skip(refusal) => {
                self.plan.skips.push(Skip {
                    job: waiter.order.id(),
                    lane: None,
                    refusal,
                });
            }
            Verdict::Wait(refusal) => self.put_in_lane(waiter, &route, refusal),
            Verdict::Untouched => {}
        }
    }

    fn put_in_lane(&mut self, waiter: Waiter, route: &Route, refusal: Refusal) {
        let index = self
            .lanes
            .of_candidate(route, &waiter.demands, &refusal.key);
        self.take_out_of_line(index);
        let job = waiter.order.id();
        let lane = self.lanes.get_mut(index);
        lane.push(waiter);
        if lane.head.is_some_and(|head| head.id() == job) {
            lane.sleep_on(&refusal.key);
            lane.refusals = 1;
        }
        self.put_in_line(index);
        self.waits.push((job, index, refusal));
    }

    fn judge_lane(&mut self, index: LaneIndex, order: Order) {
        let lane = self.lanes.get(index);
        // A new job may have become the head meanwhile; then it was judged, and the lane with it.
        if self.room == 0 || lane.head != Some(order) || !self.fleet.i_can_run(&lane.route) {
            return;
        }
        let Some(head) = lane.first().cloned() else {
            return;
        };
        let (id, is_due, is_read_up) = (
            lane.id,
            lane.next_at.is_some_and(|at| at <= self.now),
            lane.is_read_up(),
        );
        match self.judge(&head, Some(index)) {
            Verdict::Wait(refusal) => {
                if is_due || refusal.key != self.lanes.get(index).sleeps_on {
                    self.refuse_head(index, &refusal);
                }
                return;
            }
            Verdict::Untouched => return,
            // The job behind it is not known: the next turn goes on here.
            _ if is_read_up => return,
            Verdict::Start(at) => self.start(&head, id, at),
            Verdict::Skip(refusal) => self.plan.skips.push(Skip {
                job: order.id(),
                lane: id,
                refusal,
            }),
        }
        self.end_elder(id);
        self.take_out_of_line(index);
        let lane = self.lanes.get_mut(index);
        lane.pop();
        if let Some(next) = lane.head {
            self.put_in_line(index);
            self.agenda.push(Reverse((next, Item::Lane(index))));
        }
    }

    /// Takes everything that a start takes, of all its keys (R40).
    fn start(&mut self, waiter: &Waiter, lane: Option<LaneId>, at: Timestamp) {
        for demand in &*waiter.demands {
            if let Some(book) = self.keys.get_mut(&demand.key) {
                book.take(demand.want, at);
            }
        }
        self.room -= 1;
        self.plan.starts.push(Start {
            job: waiter.order.id(),
            lane,
            at,
        });
    }

    /// Lets a lane sleep on the key that refused its head. A head of several keys that is refused too often becomes their elder (R46).
    fn refuse_head(&mut self, index: LaneIndex, refusal: &Refusal) {
        self.take_out_of_line(index);
        let lane = self.lanes.get_mut(index);
        lane.refusals = lane.refusals.saturating_add(1);
        lane.sleep_on(&refusal.key);
        self.put_in_line(index);

        let lane = self.lanes.get(index);
        let (Some(id), Some(waiter)) = (lane.id, lane.first()) else {
            return;
        };
        let keys = waiter.demands.len();
        if keys < 2 || lane.refusals as usize <= 2 * keys {
            return;
        }
        let elder = Elder {
            lane: id,
            head: waiter.order,
            route: lane.route.clone(),
        };
        for demand in waiter.demands.clone().iter() {
            if let Some(book) = self.keys.get_mut(&demand.key)
                && book
                    .elder
                    .as_ref()
                    .is_none_or(|present| elder.head.is_older_than(present.head))
            {
                book.elder = Some(elder.clone());
            }
        }
    }

    fn end_elder(&mut self, lane: Option<LaneId>) {
        for book in self.keys.values_mut() {
            if book.is_elder(lane) {
                book.elder = None;
            }
        }
    }

    fn drop_dead_elders(&mut self) {
        for book in self.keys.values_mut() {
            if book
                .elder
                .as_ref()
                .is_some_and(|elder| !self.fleet.can_run(&elder.route))
            {
                book.elder = None;
            }
        }
    }

    fn see(&mut self, view: LaneView) -> LaneIndex {
        let index = self.lanes.see(view);
        self.put_in_line(index);
        index
    }

    fn put_in_line(&mut self, index: LaneIndex) {
        let lane = self.lanes.get(index);
        if let (Some(head), Some(book)) = (lane.head, self.keys.get_mut(&lane.sleeps_on)) {
            book.line.insert((head, index));
        }
    }

    fn take_out_of_line(&mut self, index: LaneIndex) {
        let lane = self.lanes.get(index);
        if let (Some(head), Some(book)) = (lane.head, self.keys.get_mut(&lane.sleeps_on)) {
            book.line.remove(&(head, index));
        }
    }

    fn finish(mut self) -> Plan {
        let look_at: BTreeMap<KeyId, Option<Timestamp>> = self
            .keys
            .iter()
            .map(|(key, book)| (key.clone(), self.look_at(book)))
            .collect();
        for ((key, mut book), look_at) in self.keys.into_iter().zip(look_at.into_values()) {
            let elder = book.elder.as_ref().map(|elder| elder.lane);
            let rate = book.changed_rate();
            let elder_changed = self
                .elders_before
                .get(&key)
                .is_none_or(|before| *before != elder);
            if rate.is_some() || elder_changed || look_at.is_some() {
                self.plan.keys.insert(
                    key,
                    KeyUpdate {
                        rate,
                        elder,
                        look_at,
                    },
                );
            }
        }
        let (new_lanes, lanes, refs) = self.lanes.finish();
        self.plan.new_lanes = new_lanes;
        self.plan.lanes = lanes;
        self.plan.waits = self
            .waits
            .into_iter()
            .map(|(job, index, refusal)| Wait {
                job,
                lane: refs[index],
                refusal,
            })
            .collect();
        self.plan
    }
}
