//! Slots: releases, resizes and cancellations (R44, R50–R53).

use warp_policy::admission::{Control, SizeOverride};

use crate::model::{Ask, Store};
use crate::words::{at, mutex, slot_key, slots};

fn limit(limit: u32) -> Control {
    Control {
        size: Some(SizeOverride::Limit(limit)),
        ..Control::default()
    }
}

/// S14, R53: lowered below what runs nobody starts; raised, as many as are let in start at once.
#[test]
fn a_resized_semaphore_admits_up_to_its_new_size() {
    let mut store = Store::new();
    let worker = store.worker(["a"], 20);
    let api = || [slots("api", 10)];
    let running: Vec<_> = (0..8).map(|_| store.enqueue("a", api())).collect();
    assert_eq!(store.turn(worker), running);
    store.control(&slot_key("api"), limit(3));
    let waiting: Vec<_> = (0..5).map(|_| store.enqueue("a", api())).collect();
    assert_eq!(store.turn(worker), []);
    for job in &running[..5] {
        assert_eq!(store.finish(worker, *job), [], "three or more run");
    }
    assert_eq!(store.finish(worker, running[5]), waiting[..1]);
    store.control(&slot_key("api"), limit(6));
    assert_eq!(store.turn(worker), waiting[1..4]);
    assert_eq!(store.turn(worker), []);
    for size in [3, 6].into_iter().cycle().take(50) {
        store.control(&slot_key("api"), limit(size));
        assert_eq!(store.turn(worker), []);
    }
}

/// S05: a cancelled waiter frees nothing and never runs, even if it was due.
#[test]
fn cancelling_a_waiting_job_frees_no_slot() {
    let mut store = Store::new();
    let worker = store.worker(["a"], 8);
    let gpu = || [slots("gpu", 2)];
    let running = [store.enqueue("a", gpu()), store.enqueue("a", gpu())];
    assert_eq!(store.turn(worker), running);
    let waiting: Vec<_> = (0..4).map(|_| store.enqueue("a", gpu())).collect();
    assert_eq!(store.turn(worker), []);
    store.cancel(waiting[1]);
    assert_eq!(store.turn(worker), []);
    assert_eq!(store.finish(worker, running[0]), [waiting[0]]);
    // The next one is made due, and cancelled at that moment.
    store.jobs.remove(&running[1]);
    store.restore([slot_key("gpu")].into());
    assert_eq!(
        store.lane_of(waiting[2]).expect("it waits").1.next_at,
        Some(at(0))
    );
    store.cancel(waiting[2]);
    assert_eq!(store.turn(worker), [waiting[3]]);
}

/// R44, S06: the turn that releases takes the next waiter, and the rest of the line sleeps without an instant.
#[test]
fn a_release_starts_the_next_waiter_and_wakes_nobody_else() {
    let mut store = Store::new();
    let worker = store.worker(["a", "b", "c", "free"], 4);
    let first = store.enqueue("a", [mutex("m")]);
    let rest = ["b", "c", "a"].map(|kind| store.enqueue(kind, [mutex("m")]));
    assert_eq!(store.turn(worker), [first]);
    assert!(store.lanes.values().all(|lane| lane.next_at.is_none()));
    assert_eq!(store.finish(worker, first), [rest[0]]);
    assert!(store.lanes.values().all(|lane| lane.next_at.is_none()));
    let free = store.enqueue("free", []);
    let other = store.enqueue("a", [mutex("n")]);
    assert_eq!(store.turn(worker), [free, other]);
}

/// R44: a lane that leaves a line wakes the next one in the same turn.
#[test]
fn the_line_just_left_wakes_its_next_lane() {
    let mut store = Store::new();
    let worker = store.worker(["a", "b"], 8);
    let running = [
        store.enqueue("a", [mutex("x")]),
        store.enqueue("a", [mutex("y")]),
    ];
    assert_eq!(store.turn(worker), running);
    let both = store.enqueue("a", [mutex("x"), mutex("y")]);
    let single = store.enqueue("b", [mutex("x")]);
    assert_eq!(store.turn(worker), []);
    // The job of both keys stands first in the line of `x`; it moves to `y`, and the other is due.
    store.jobs.remove(&running[0]);
    store.restore([slot_key("x")].into());
    assert_eq!(store.turn(worker), []);
    assert_eq!(
        store.lane_of(both).expect("it waits").1.sleeps_on,
        slot_key("y")
    );
    assert_eq!(
        store.lane_of(single).expect("it waits").1.next_at,
        Some(at(0))
    );
    assert_eq!(store.turn(worker), [single]);
}

/// R45: a waiter is written once when it goes into its lane and once when it leaves; a lane is judged by its head.
#[test]
fn a_waiter_is_written_twice_however_long_it_waits() {
    let mut store = Store::new();
    let worker = store.worker(["a"], 1);
    let first = store.enqueue("a", [mutex("m")]);
    store.turn(worker);
    for _ in 0..500 {
        store.enqueue("a", [mutex("m")]);
    }
    let ask = || Ask {
        room: 0,
        ..Ask::default()
    };
    assert_eq!(store.turn_with(worker, ask()).waits.len(), 500);
    let plan = store.turn_with(worker, ask());
    assert_eq!((plan.waits.len(), plan.lanes.len()), (0, 0));
    let finished = vec![(first, crate::model::Outcome::Done)];
    let plan = store.turn_with(
        worker,
        Ask {
            finished,
            ..Ask::default()
        },
    );
    assert_eq!(
        (plan.starts.len(), plan.waits.len(), plan.lanes.len()),
        (1, 0, 1)
    );
}
