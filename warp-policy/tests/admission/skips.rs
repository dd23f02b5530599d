//! Skip mode (R41, R51) and pauses (R102).

use std::sync::Arc;

use warp_policy::Style;
use warp_policy::admission::{Cause, Control, Pause};
use warp_policy::ids::JobId;

use crate::model::{Ask, Outcome, Store};
use crate::words::{mutex, rate, route, skipping, slot_key, slots};

fn skipped(store: &Store, job: JobId) -> bool {
    !store.jobs.contains_key(&job)
}

fn paused(pause: Pause) -> Control {
    Control {
        pause: Some(pause),
        ..Control::default()
    }
}

/// R41: a key with waiters counts as full for a skip-mode job, even while more is free than they can take.
#[test]
fn a_key_with_waiters_is_full_for_a_skip_mode_job() {
    let mut store = Store::new();
    let busy = store.worker(["a"], 1);
    let running = store.enqueue("a", [slots("k", 1)]);
    assert_eq!(store.turn(busy), [running]);
    let waiting = store.enqueue("a", [slots("k", 1)]);
    store.turn_with(
        busy,
        Ask {
            room: 0,
            ..Ask::default()
        },
    );

    let other = store.worker(["b"], 8);
    let turned_away = store.enqueue("b", [skipping(slots("k", 5))]);
    let plan = store.turn_with(other, Ask::default());
    assert_eq!(plan.skips[0].refusal.cause, Cause::Line);
    assert!(skipped(&store, turned_away));

    store.drain(busy);
    let admitted = store.enqueue("b", [skipping(slots("k", 5))]);
    assert_eq!(store.turn(other), [admitted], "nobody can run {waiting}");
}

/// R41: so it is where the waiters are of its own lane and it would go before them.
#[test]
fn an_urgent_skip_mode_job_does_not_pass_its_own_lane() {
    let mut store = Store::new();
    let worker = store.worker(["a"], 8);
    let running = store.enqueue("a", [slots("k", 1)]);
    assert_eq!(store.turn(worker), [running]);
    store.enqueue("a", [slots("k", 1)]);
    assert_eq!(store.turn(worker), []);
    let urgent = store.enqueue_as(route("a"), 1, Arc::new([skipping(slots("k", 5))]));
    assert_eq!(store.turn(worker), []);
    assert!(skipped(&store, urgent));
}

/// R41: skip decides the first start only; a job that comes back waits.
#[test]
fn a_job_that_comes_back_waits() {
    let mut store = Store::new();
    let worker = store.worker(["a"], 8);
    let job = store.enqueue("a", [skipping(mutex("m"))]);
    assert_eq!(store.turn(worker), [job]);
    let finished = vec![(job, Outcome::Retry(10))];
    store.turn_with(
        worker,
        Ask {
            finished,
            ..Ask::default()
        },
    );
    let other = store.enqueue("a", [skipping(mutex("m"))]);
    assert_eq!(store.turn(worker), [other]);
    store.now = store.now.plus_micros(10_000);
    assert_eq!(store.turn(worker), []);
    assert_eq!(store.finish(worker, other), [job], "it waited");
}

/// R102: a paused key admits nobody; wait-mode jobs stay in line, skip-mode jobs are skipped.
#[test]
fn a_paused_key_skips_or_keeps_waiting() {
    let mut store = Store::new();
    let worker = store.worker(["a"], 8);
    store.control(&slot_key("k"), paused(Pause::Skip));
    let waits = store.enqueue("a", [slots("k", 5)]);
    let skips = store.enqueue("a", [skipping(slots("k", 5))]);
    let plan = store.turn_with(worker, Ask::default());
    assert_eq!(plan.waits[0].refusal.cause, Cause::Paused);
    assert!(skipped(&store, skips));
    assert_eq!(store.lane_of(waits).expect("it waits").1.next_at, None);
    store.control(&slot_key("k"), Control::default());
    assert_eq!(store.turn(worker), [waits]);
}

/// R102, R103: what was held in line starts on resume; the held do not turn each other away.
#[test]
fn held_jobs_start_on_resume() {
    let mut store = Store::new();
    let worker = store.worker(["a", "b", "c"], 8);
    store.control(&slot_key("k"), paused(Pause::Hold));
    let held = ["a", "b", "c"].map(|kind| store.enqueue(kind, [skipping(slots("k", 2))]));
    assert_eq!(store.turn(worker), []);
    store.control(&slot_key("k"), Control::default());
    assert_eq!(store.turn(worker), held[..2]);
    assert_eq!(store.finish(worker, held[0]), held[2..]);
}

/// R45: a lane is judged no further than it was read, also where its heads leave it without taking room.
#[test]
fn a_lane_of_skipped_jobs_is_judged_no_further_than_it_was_read() {
    let mut store = Store::new();
    let worker = store.worker(["a"], 2);
    let first = store.enqueue("a", [rate("r", Style::Fixed, 1, 60_000)]);
    assert_eq!(store.turn(worker), [first]);
    store.control(&slot_key("k"), paused(Pause::Hold));
    for _ in 0..5 {
        let limit = skipping(rate("r", Style::Fixed, 1, 60_000));
        store.enqueue("a", [slots("k", 9), limit]);
    }
    assert_eq!(store.turn(worker), []);
    store.control(&slot_key("k"), Control::default());
    let one = || Ask {
        room: 1,
        ..Ask::default()
    };
    let skips: Vec<usize> = (0..5)
        .map(|_| store.turn_with(worker, one()).skips.len())
        .collect();
    assert_eq!(skips, [1, 1, 1, 2, 0]);
}
