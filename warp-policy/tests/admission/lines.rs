//! Lines that are longer than what a turn reads.

use warp_policy::Style;
use warp_policy::admission::LINE_READ;
use warp_policy::ids::{JobId, WorkerId};

use crate::model::{Ask, Store, started};
use crate::words::{at, mutex, rate, rate_key};

/// That many lanes in the line of one rate key, asleep until its next window.
fn line_of(store: &mut Store, lanes: usize, count: u32) -> Vec<JobId> {
    let enqueue = |number: usize| {
        let tenant = mutex(&format!("tenant {number}"));
        store.enqueue("a", [tenant, rate("r", Style::Fixed, count, 1_000)])
    };
    (0..lanes).map(enqueue).collect()
}

fn tokens_are_gone(store: &mut Store, worker: WorkerId, count: u32) {
    for _ in 0..count {
        store.enqueue("a", [rate("r", Style::Fixed, count, 1_000)]);
    }
    assert_eq!(store.turn(worker).len(), count as usize);
}

/// R44: the turns that empty the part that was read ask to look at the rest, until every token is used.
#[test]
fn a_line_longer_than_what_is_read_is_served_at_one_instant() {
    let mut store = Store::new();
    let worker = store.worker(["a"], 1_000);
    tokens_are_gone(&mut store, worker, 200);
    let jobs = line_of(&mut store, 300, 200);
    assert_eq!(store.turn(worker), []);
    store.now = at(1_000);
    let mut started = Vec::new();
    for _ in 0..8 {
        started.extend(store.turn(worker));
    }
    assert_eq!(started, jobs[..200]);
    assert!(
        store
            .lanes
            .values()
            .all(|lane| lane.next_at.is_none_or(|next| next == at(2_000)))
    );
}

/// R44: where all that was read is due and nobody takes it, the key is looked at a second later, not at once.
#[test]
fn a_line_that_nobody_takes_is_looked_at_a_second_later() {
    let mut store = Store::new();
    let worker = store.worker(["a"], 1_000);
    tokens_are_gone(&mut store, worker, 200);
    line_of(&mut store, 300, 200);
    assert_eq!(store.turn(worker), []);
    store.now = at(1_000);
    store.restore([rate_key("r")].into());
    let due = store
        .lanes
        .values()
        .filter(|lane| lane.next_at == Some(at(1_000)));
    assert!(due.count() >= LINE_READ);
    assert_eq!(store.keys[&rate_key("r")].look_at, Some(at(2_000)));
}

/// R44: where some were taken and the others may go, the next ones can be somebody else's: the key is looked at at once.
#[test]
fn a_line_that_somebody_takes_is_looked_at_at_once() {
    let mut store = Store::new();
    let worker = store.worker(["a"], 1_000);
    tokens_are_gone(&mut store, worker, 200);
    let jobs = line_of(&mut store, 300, 200);
    assert_eq!(store.turn(worker), []);
    store.now = at(1_000);
    let ask = Ask {
        room: 20,
        ..Ask::default()
    };
    assert_eq!(started(&store.turn_with(worker, ask)), jobs[..20]);
    assert_eq!(store.keys[&rate_key("r")].look_at, Some(at(1_000)));
}

/// R33, R44: a lane in front that its own, smaller size keeps asleep does not hide the rest of the line.
#[test]
fn a_sleeping_lane_in_front_does_not_hide_the_rest() {
    let mut store = Store::new();
    let worker = store.worker(["a"], 1_000);
    tokens_are_gone(&mut store, worker, 200);
    let small = [mutex("small"), rate("r", Style::Fixed, 1, 60_000)];
    let small = store.enqueue("a", small);
    let jobs = line_of(&mut store, 150, 200);
    assert_eq!(store.turn(worker), []);
    store.now = at(1_000);
    let mut started = Vec::new();
    for _ in 0..10 {
        started.extend(store.turn(worker));
    }
    assert_eq!(started, jobs);
    assert!(store.lane_of(small).is_some());
}
