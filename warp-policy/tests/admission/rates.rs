//! Rates at the planner: when a waiter may go, how many go, and by which clock (R49, R60–R67).

use warp_policy::Style;
use warp_policy::admission::{Control, SizeOverride};
use warp_policy::ids::{JobId, WorkerId};

use crate::model::{Ask, Outcome, Store, started};
use crate::words::{at, rate, rate_key, size};

fn replaced(count: u32, millis: u64) -> Control {
    let window = size(Style::Fixed, count, millis).window;
    Control {
        size: Some(SizeOverride::Rate { count, window }),
        ..Control::default()
    }
}

fn eight_starts(store: &mut Store, worker: WorkerId) {
    for second in 0..8 {
        store.now = at(second * 1_000);
        store.enqueue("a", [rate("r", Style::Sliding, 10, 60_000)]);
        assert_eq!(store.turn(worker).len(), 1);
    }
}

fn due(store: &Store, job: JobId) -> Option<warp_policy::Timestamp> {
    store.lane_of(job).expect("it waits").1.next_at
}

/// S15 (a), R100: after six of the eight starts have left the window.
#[test]
fn a_lowered_count_waits_for_the_right_start() {
    let mut store = Store::new();
    let worker = store.worker(["a"], 20);
    eight_starts(&mut store, worker);
    store.now = at(10_000);
    store.control(&rate_key("r"), replaced(3, 60_000));
    let job = store.enqueue("a", [rate("r", Style::Sliding, 10, 60_000)]);
    assert_eq!(store.turn(worker), []);
    assert_eq!(due(&store, job), Some(at(65_000)));
    store.now = at(65_000);
    assert_eq!(store.turn(worker), [job]);
}

/// S15 (b), R103: with a shorter window at 15 s; and raised again, at once.
#[test]
fn a_shortened_window_waits_for_the_right_start() {
    let mut store = Store::new();
    let worker = store.worker(["a"], 20);
    eight_starts(&mut store, worker);
    store.now = at(12_000);
    store.control(&rate_key("r"), replaced(3, 10_000));
    let job = store.enqueue("a", [rate("r", Style::Sliding, 10, 60_000)]);
    assert_eq!(store.turn(worker), []);
    assert_eq!(due(&store, job), Some(at(15_000)));
    store.control(&rate_key("r"), Control::default());
    assert_eq!(due(&store, job), Some(at(12_000)));
    assert_eq!(store.turn(worker), [job]);
}

/// S16, R42: one start per two seconds drains twelve jobs by 22 s, retries included.
#[test]
fn a_backlog_drains_at_its_rate() {
    let mut store = Store::new();
    let worker = store.worker(["a"], 20);
    let jobs: Vec<JobId> = (0..12)
        .map(|_| store.enqueue("a", [rate("x", Style::Sliding, 1, 2_000)]))
        .collect();
    for (turn, job) in (0..).zip(jobs) {
        store.now = at(turn * 2_000);
        assert_eq!(store.turn(worker), [job]);
        store.now = at(turn * 2_000 + 1_999);
        assert_eq!(store.turn(worker), []);
    }
}

/// R64: a hundred lanes of one rate key: as many are woken at each instant as there are tokens, and all of these start.
#[test]
fn no_more_are_woken_than_there_are_tokens() {
    let mut store = Store::new();
    let worker = store.worker(["a"], 200);
    for tenant in 0..100 {
        let tenant = crate::words::mutex(&format!("tenant {tenant}"));
        store.enqueue("a", [tenant, rate("r", Style::Fixed, 10, 1_000)]);
    }
    assert_eq!(store.turn(worker).len(), 10);
    for window in 1..10 {
        let woken = store.lanes.values().filter(|lane| lane.next_at.is_some());
        assert_eq!(woken.count(), 10);
        assert!(
            store
                .lanes
                .values()
                .all(|lane| lane.next_at.is_none_or(|t| t == at(window * 1_000)))
        );
        store.now = at(window * 1_000);
        assert_eq!(store.turn(worker).len(), 10);
    }
    assert!(store.lanes.is_empty());
}

/// R49: a start is never before the last one booked; a clock that is less than a second behind delays nobody.
#[test]
fn a_start_is_not_before_the_last_one() {
    let mut store = Store::new();
    let worker = store.worker(["a"], 20);
    let r = || rate("r", Style::Sliding, 3, 60_000);
    store.enqueue("a", [r()]);
    assert_eq!(store.turn(worker).len(), 1);
    store.now = at(-900);
    let plan = {
        let first = store.enqueue("a", [r()]);
        let plan = store.turn_with(worker, Ask::default());
        assert_eq!(started(&plan), [first]);
        plan
    };
    assert_eq!(plan.starts[0].at, at(0));
    store.enqueue("a", [r()]);
    let last = store.enqueue("a", [r()]);
    assert_eq!(store.turn(worker).len(), 1);
    assert_eq!(due(&store, last), Some(at(60_000)));
}

/// R49, R44: nor does it delay a waiter that is let in meanwhile.
#[test]
fn a_waiter_is_due_at_once_on_a_clock_that_is_a_little_behind() {
    let mut store = Store::new();
    let worker = store.worker(["a"], 20);
    let jobs = [0, 1].map(|_| store.enqueue("a", [rate("r", Style::Sliding, 1, 60_000)]));
    assert_eq!(store.turn(worker), jobs[..1]);
    store.now = at(-900);
    store.control(&rate_key("r"), replaced(2, 60_000));
    assert_eq!(due(&store, jobs[1]), Some(at(-900)));
    let plan = store.turn_with(worker, Ask::default());
    assert_eq!(plan.starts[0].at, at(0));
}

/// R49, R66: further back the known starts count for one window more, and for no longer.
#[test]
fn a_clock_that_went_back_gives_no_token_twice() {
    let mut store = Store::new();
    let worker = store.worker(["a"], 20);
    let r = || rate("r", Style::Sliding, 2, 60_000);
    store.enqueue("a", [r()]);
    store.enqueue("a", [r()]);
    assert_eq!(store.turn(worker).len(), 2);
    store.now = at(-3_600_000);
    let job = store.enqueue("a", [r()]);
    assert_eq!(store.turn(worker), []);
    assert_eq!(due(&store, job), Some(at(-3_540_000)));
    store.now = at(-3_540_000);
    let plan = store.turn_with(worker, Ask::default());
    assert_eq!((started(&plan), plan.starts[0].at), (vec![job], store.now));
}

/// S13, R60: a refusal leaves no trace, and a finished attempt gives no token back.
#[test]
fn only_a_start_touches_the_tokens() {
    let mut store = Store::new();
    let worker = store.worker(["a"], 20);
    let r = || [rate("r", Style::TokenBucket, 1, 1_000)];
    let first = store.enqueue("a", r());
    assert_eq!(store.turn(worker), [first]);
    let before = store.keys[&rate_key("r")].rate.clone();
    let second = store.enqueue("a", r());
    let finished = vec![(first, Outcome::Retry(0))];
    let ask = Ask {
        finished,
        ..Ask::default()
    };
    let plan = store.turn_with(worker, ask);
    assert_eq!((plan.starts.len(), plan.waits.len()), (0, 2));
    assert_eq!(store.keys[&rate_key("r")].rate, before);
    store.now = at(1_000);
    assert_eq!(store.turn(worker), [first], "it kept its place");
    assert!(store.lane_of(second).is_some());
}
