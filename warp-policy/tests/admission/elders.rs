//! Heads of several keys that are refused too often (R46).

use std::sync::Arc;

use warp_policy::ids::{JobId, LaneId, WorkerId};

use crate::model::Store;
use crate::words::{mutex, route, slot_key, slots};

fn elder(store: &Store, key: &str) -> Option<LaneId> {
    store.keys.get(&slot_key(key)).and_then(|row| row.elder)
}

/// `x` and `y` are each held by one job of a stream that never ends, and a job of both waits. In turns one of the two is released while
/// the other is held. Returns after how many releases it starts.
fn releases_until_it_starts(bound: usize, keep_elders: bool) -> Option<usize> {
    let mut store = Store::new();
    let worker = store.worker(["single", "both"], 8);
    let mut holders = ["x", "y"].map(|key| store.enqueue("single", [mutex(key)]));
    assert_eq!(store.turn(worker), holders);
    let both = store.enqueue("both", [mutex("x"), mutex("y")]);
    assert_eq!(store.turn(worker), []);
    for release in 0..bound {
        let side = release % 2;
        store.enqueue("single", [mutex(["x", "y"][side])]);
        let mut now = store.finish(worker, holders[side]);
        now.extend(store.turn(worker));
        if !keep_elders {
            store.keys.values_mut().for_each(|row| row.elder = None);
            store.restore(["x", "y"].map(slot_key).into());
            now.extend(store.turn(worker));
        }
        if now.contains(&both) {
            return Some(release + 1);
        }
        if let [next] = now[..] {
            holders[side] = next;
        } else {
            // The key idles for its elder: only the other one can be released.
            assert!(elder(&store, ["x", "y"][side]).is_some());
        }
    }
    None
}

/// R46: a stream of jobs of one key each does not starve a job of both; without the elder it would.
#[test]
fn a_stream_of_single_keys_does_not_starve_a_job_of_several() {
    let releases = releases_until_it_starts(50, true);
    assert!(
        releases.is_some_and(|releases| releases <= 7),
        "{releases:?}"
    );
    assert_eq!(
        releases_until_it_starts(50, false),
        None,
        "it is the elder that saves it"
    );
}

/// The head of a lane is refused as often as a head of two keys may be, and now once more.
fn refuse_once_more(store: &mut Store, worker: WorkerId, lane: LaneId) {
    let row = store.lanes.get_mut(&lane).expect("a lane");
    row.refusals = 4;
    row.next_at = Some(store.now);
    assert_eq!(store.turn(worker), []);
}

/// A job of `x` and `y` that is the elder of both; `x` is free and kept for it, `y` is held.
fn an_elder(store: &mut Store) -> (WorkerId, JobId, JobId) {
    let worker = store.worker(["single", "both"], 8);
    let holder = store.enqueue("single", [mutex("y")]);
    let both = store.enqueue("both", [mutex("x"), mutex("y")]);
    assert_eq!(store.turn(worker), [holder]);
    let (id, _) = store.lane_of(both).expect("it waits");
    refuse_once_more(store, worker, id);
    assert_eq!((elder(store, "x"), elder(store, "y")), (Some(id), Some(id)));
    (worker, both, holder)
}

/// R46: others are admitted only where one slot more is free; the elder ends when it starts.
#[test]
fn an_elder_keeps_one_slot_until_it_starts() {
    let mut store = Store::new();
    let (worker, both, holder) = an_elder(&mut store);
    let single = store.enqueue("single", [mutex("x")]);
    let wide = store.enqueue("single", [slots("y", 3)]);
    assert_eq!(
        store.turn(worker),
        [wide],
        "one more than the elder's is free"
    );
    assert!(store.lane_of(single).is_some());
    assert_eq!(store.finish(worker, holder), []);
    assert_eq!(store.finish(worker, wide), [both]);
    assert_eq!((elder(&store, "x"), elder(&store, "y")), (None, None));
    assert_eq!(store.finish(worker, both), [single]);
}

/// R46: it ends when it is cancelled.
#[test]
fn a_cancelled_elder_keeps_nothing() {
    let mut store = Store::new();
    let (worker, both, _) = an_elder(&mut store);
    let single = store.enqueue("single", [mutex("x")]);
    assert_eq!(store.turn(worker), []);
    store.cancel(both);
    assert_eq!(store.turn(worker), [single]);
}

/// R46: it ends when no live worker can run it.
#[test]
fn an_elder_that_nobody_can_run_keeps_nothing() {
    let mut store = Store::new();
    let (worker, _, _) = an_elder(&mut store);
    let single = store.enqueue("single", [mutex("x")]);
    assert_eq!(store.turn(worker), []);
    let other = store.worker(["single"], 8);
    store.drain(worker);
    assert_eq!(store.turn(other), [], "the keys are looked at");
    assert_eq!(store.turn(other), [single]);
    assert_eq!((elder(&store, "x"), elder(&store, "y")), (None, None));
}

/// R46, R43: what is kept is for the elder, not for those who would go before it in its lane.
#[test]
fn a_newcomer_does_not_take_what_is_kept_for_the_elder_of_its_lane() {
    let mut store = Store::new();
    let (worker, _, _) = an_elder(&mut store);
    let most_urgent = store.enqueue_as(route("single"), 2, Arc::new([mutex("x")]));
    assert_eq!(store.turn(worker), []);
    let urgent = store.enqueue_as(route("both"), 1, Arc::new([mutex("x"), slots("y", 3)]));
    assert_eq!(store.turn(worker), []);
    assert!(store.lane_of(most_urgent).is_some() && store.lane_of(urgent).is_some());
}

/// R46: one elder per key, and the older one wins, whichever was refused too often first.
#[test]
fn the_older_of_two_heads_is_the_elder() {
    for refused_first in [0, 1] {
        let mut store = Store::new();
        let worker = store.worker(["single", "a", "b"], 8);
        let holder = store.enqueue("single", [mutex("y")]);
        let heads = ["a", "b"].map(|kind| store.enqueue(kind, [mutex("x"), mutex("y")]));
        assert_eq!(store.turn(worker), [holder]);
        let lanes = heads.map(|job| store.lane_of(job).expect("it waits").0);
        for index in [refused_first, 1 - refused_first] {
            refuse_once_more(&mut store, worker, lanes[index]);
        }
        let elders = [elder(&store, "x"), elder(&store, "y")];
        assert_eq!(elders, [Some(lanes[0]); 2]);
    }
}

/// R46: a head of one key is never an elder, however often it is refused.
#[test]
fn a_head_of_one_key_is_no_elder() {
    let mut store = Store::new();
    let worker = store.worker(["a"], 8);
    let holder = store.enqueue("a", [mutex("x")]);
    let waiting = store.enqueue("a", [mutex("x")]);
    assert_eq!(store.turn(worker), [holder]);
    let (lane, _) = store.lane_of(waiting).expect("it waits");
    refuse_once_more(&mut store, worker, lane);
    assert_eq!(elder(&store, "x"), None);
}

/// R46: opposite key orders end.
#[test]
fn opposite_orders_of_keys_do_not_deadlock() {
    let mut store = Store::new();
    let worker = store.worker(["a", "b"], 8);
    let mut waiting: Vec<JobId> = (0..6)
        .map(|number| match number % 2 {
            0 => store.enqueue("a", [mutex("x"), mutex("y")]),
            _ => store.enqueue("b", [mutex("y"), mutex("x")]),
        })
        .collect();
    let mut running = store.turn(worker);
    while let Some(job) = running.pop() {
        waiting.retain(|&other| other != job);
        running.extend(store.finish(worker, job));
    }
    assert_eq!(waiting, []);
}
