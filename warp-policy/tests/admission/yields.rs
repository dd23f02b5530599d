//! Heads that only other workers can run (R43).

use std::sync::Arc;

use warp_policy::ids::{JobId, WorkerId};

use crate::model::Store;
use crate::words::{at, mutex, route, slot_key, slots};

/// A mutex that was just released, with jobs of these kinds in its line, and an idle worker for the kind `a` that has had a turn. The
/// workers for `b` and `c` and for `c` have no room.
fn released<const N: usize>(store: &mut Store, kinds: [&str; N]) -> (WorkerId, [JobId; N]) {
    let runner = store.worker(["a", "b", "c"], 1);
    let running = store.enqueue("a", [mutex("m")]);
    assert_eq!(store.turn(runner), [running]);
    let waiting = kinds.map(|kind| store.enqueue(kind, [mutex("m")]));
    assert_eq!(store.turn(runner), []);
    store.worker(["b", "c"], 0);
    store.worker(["c"], 0);
    let idle = store.worker(["a"], 8);
    store.drain(runner);
    store.finish(runner, running);
    assert_eq!(store.turn(idle), []);
    (idle, waiting)
}

fn due(store: &Store, job: JobId) -> Option<warp_policy::Timestamp> {
    store.lane_of(job).expect("it waits").1.next_at
}

/// R43: an older head is left alone for a second, and not a moment longer.
#[test]
fn an_older_foreign_head_is_left_alone_for_a_second() {
    let mut store = Store::new();
    let (idle, [foreign, own]) = released(&mut store, ["b", "a"]);
    assert_eq!(due(&store, foreign), Some(at(0)));
    assert_eq!(due(&store, own), Some(at(1_000)));
    store.now = at(999);
    assert_eq!(store.turn(idle), []);
    let new = store.enqueue("a", [mutex("m")]);
    assert_eq!(store.turn(idle), [], "{new} does not pass either");
    store.now = at(1_000);
    assert_eq!(store.turn(idle), [own]);
    assert!(store.lane_of(foreign).is_some());
}

/// R43: heads behind it that only the same workers can run do not cost a second each.
#[test]
fn a_row_of_foreign_heads_is_left_alone_for_one_second() {
    for leaves_out in [false, true] {
        let mut store = Store::new();
        store.leaves_out = leaves_out;
        // Two lanes of one kind: their key sets differ.
        let runner = store.worker(["a", "b"], 1);
        let running = store.enqueue("a", [mutex("m")]);
        assert_eq!(store.turn(runner), [running]);
        let first = store.enqueue("b", [mutex("m")]);
        let second = store.enqueue("b", [mutex("m"), slots("n", 9)]);
        let own = store.enqueue("a", [mutex("m")]);
        assert_eq!(store.turn(runner), []);
        store.worker(["b"], 0);
        let idle = store.worker(["a"], 8);
        store.drain(runner);
        store.finish(runner, running);
        let instants = [first, second, own].map(|job| due(&store, job));
        assert_eq!(instants, [Some(at(0)), None, Some(at(1_000))]);
        store.now = at(1_000);
        assert_eq!(store.turn(idle), [own]);
    }
}

/// R43: a head behind it that somebody else could run has a second of its own.
#[test]
fn a_head_of_further_workers_has_a_second_of_its_own() {
    let mut store = Store::new();
    let (idle, [first, second, own]) = released(&mut store, ["b", "c", "a"]);
    let instants = [first, second, own].map(|job| due(&store, job));
    assert_eq!(instants, [Some(at(0)), Some(at(1_000)), Some(at(2_000))]);
    store.now = at(1_000);
    assert_eq!(store.turn(idle), []);
    store.now = at(2_000);
    assert_eq!(store.turn(idle), [own]);
}

/// R43: a head that no live worker can run holds up nobody.
#[test]
fn a_head_that_nobody_can_run_holds_up_nobody() {
    let mut store = Store::new();
    let (idle, [foreign, own]) = released(&mut store, ["b", "a"]);
    let servers: Vec<WorkerId> = store
        .workers
        .keys()
        .copied()
        .filter(|&id| id != idle)
        .collect();
    for worker in servers {
        store.bury(worker);
    }
    assert_eq!(store.turn(idle), [], "the line is looked at");
    assert_eq!(store.turn(idle), [own]);
    assert!(store.lane_of(foreign).is_some());
}

/// R43: others go by how long a lane has been due on the key it sleeps on; on another key its second begins anew.
#[test]
fn a_lane_that_moves_is_due_from_then_on() {
    let mut store = Store::new();
    let all = store.worker(["a", "b"], 8);
    let running = ["m", "n"].map(|key| store.enqueue("a", [mutex(key)]));
    assert_eq!(store.turn(all), running);
    let old = store.enqueue("a", [mutex("m"), mutex("n")]);
    let urgent = store.enqueue_as(route("b"), 2, Arc::new([mutex("n")]));
    assert_eq!(store.turn(all), []);
    for (job, key) in running.into_iter().zip(["m", "n"]) {
        store.jobs.remove(&job);
        store.restore([slot_key(key)].into());
    }
    assert_eq!(
        (due(&store, old), due(&store, urgent)),
        (Some(at(0)), Some(at(0)))
    );

    // Nobody has room. A new head is refused by `n`, where those who cannot run the job ahead would admit it.
    store.workers.get_mut(&all).expect("a worker").capacity = 0;
    store.worker(["a"], 0);
    store.now = at(2_000);
    let new = store.enqueue_as(route("a"), 1, Arc::new([mutex("m"), mutex("n")]));
    assert_eq!(store.turn(all), []);
    assert_eq!(due(&store, new), Some(at(2_000)));
}
