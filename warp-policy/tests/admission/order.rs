//! Who goes before whom (R40–R43, R47), and what a refusal costs.

use std::sync::Arc;

use warp_policy::admission::{
    Candidate, Cause, Fleet, KeyState, Order, Server, Turn, Waiter, demands, plan,
};
use warp_policy::declaration::Declared;
use warp_policy::ids::{JobId, WorkerId};
use warp_policy::precedence::{ExplicitPolicies, resolve};
use warp_policy::{ConcurrencySpec, Key, Mode, RateLimitSpec, Style, Window};

use crate::model::{Ask, Store};
use crate::words::{at, mutex, rate, rate_key, route, slot_key, slots};

/// R41: a stamp's policies are judged concurrency first, whatever the order in which they were declared.
#[test]
fn concurrency_is_judged_before_rate_limits() {
    let key = |name| Key::new(name).expect("a legal key");
    let window = Window::from_seconds(60).expect("a legal window");
    let explicit = ExplicitPolicies {
        rate_limits: vec![RateLimitSpec::new(key("partner"), 3, window).expect("a legal count")],
        concurrency: Some(ConcurrencySpec::mutex(key("acct-7")).with_mode(Mode::Wait)),
    };
    let stamp = resolve(&explicit, &Declared::NONE, &Declared::NONE, &()).expect("a stamp");
    let demanded: Vec<_> = demands(&stamp).iter().map(|d| d.key.clone()).collect();
    assert_eq!(demanded, [slot_key("acct-7"), rate_key("partner")]);

    let mut store = Store::new();
    let worker = store.worker(["x"], 4);
    for _ in 0..2 {
        let both = [mutex("acct-7"), rate("partner", Style::Fixed, 1, 60_000)];
        store.enqueue("x", both);
    }
    let plan = store.turn_with(worker, Ask::default());
    assert_eq!(plan.waits[0].refusal.key, slot_key("acct-7"), "both refuse");
    assert_eq!(plan.waits[0].refusal.cause, Cause::Full);
}

/// S07, R40: a job that its mutex turns away spends no token, however often it is tried.
#[test]
fn a_job_turned_away_by_its_mutex_uses_up_no_rate() {
    let mut store = Store::new();
    let worker = store.worker(["x", "y"], 8);
    let partner = || rate("partner", Style::Sliding, 3, 60_000);
    let first = store.enqueue("x", [mutex("acct-7"), partner()]);
    assert_eq!(store.turn(worker), [first]);
    store.now = at(100);
    let second = store.enqueue("x", [mutex("acct-7"), partner()]);
    assert_eq!(store.turn(worker), []);

    store.now = at(10_000);
    let others = [
        store.enqueue("y", [partner()]),
        store.enqueue("y", [partner()]),
    ];
    assert_eq!(store.turn(worker), others);
    for second in 11..20 {
        store.now = at(second * 1_000);
        assert_eq!(store.turn(worker), []);
    }
    store.now = at(20_000);
    assert_eq!(
        store.finish(worker, first),
        [],
        "three starts are on record"
    );
    let (_, lane) = store.lane_of(second).expect("it waits");
    assert_eq!(
        (&lane.sleeps_on, lane.next_at),
        (&rate_key("partner"), Some(at(60_000)))
    );
    store.now = at(60_000);
    assert_eq!(store.turn(worker), [second]);
}

/// R43: a new job stands behind those that wait, and passes them where more is free than they can take.
#[test]
fn a_new_job_overtakes_only_where_more_is_free() {
    let mut store = Store::new();
    let busy = store.worker(["a"], 2);
    let running = [
        store.enqueue("a", [slots("k", 2)]),
        store.enqueue("a", [slots("k", 2)]),
    ];
    assert_eq!(store.turn(busy), running);
    let waiting = store.enqueue("a", [slots("k", 2)]);
    assert_eq!(store.turn(busy), []);

    // The first slot is the waiting job's although nobody took it yet; the second is for the first who comes.
    let fresh = store.worker(["b"], 8);
    let mut after = |finished, free: bool| {
        store.jobs.remove(&finished);
        store.restore([slot_key("k")].into());
        let new = store.enqueue("b", [slots("k", 2)]);
        assert_eq!(store.turn(fresh).contains(&new), free);
    };
    after(running[0], false);
    after(running[1], false);
    let third = store.enqueue("a", [slots("k", 3)]);
    assert_eq!(
        store
            .turn_with(
                busy,
                Ask {
                    fetch: 0,
                    ..Ask::default()
                }
            )
            .starts
            .len(),
        1
    );
    assert!(store.lane_of(waiting).is_none(), "it went first");
    assert!(store.jobs.contains_key(&third));
}

/// R43: priority goes first, then the place; a lane is left strictly in that order.
#[test]
fn a_lane_is_left_by_priority_then_place() {
    let mut store = Store::new();
    let worker = store.worker(["a"], 1);
    let running = store.enqueue("a", [mutex("m")]);
    assert_eq!(store.turn(worker), [running]);
    let place = |store: &mut Store, priority| {
        store.now = store.now.plus_micros(1);
        store.enqueue_as(route("a"), priority, Arc::new([mutex("m")]))
    };
    let late = place(&mut store, 0);
    let low = place(&mut store, -1);
    let later = place(&mut store, 0);
    let high = place(&mut store, 1);
    store.turn_with(
        worker,
        Ask {
            room: 0,
            ..Ask::default()
        },
    );
    let mut order = vec![running];
    for _ in 0..4 {
        let started = store.finish(worker, order[order.len() - 1]);
        order.extend(started);
    }
    assert_eq!(order, [running, high, late, later, low]);
}

/// R43: a job stands behind its own lane even where that sleeps on another key.
#[test]
fn a_job_stands_behind_its_own_lane() {
    let mut store = Store::new();
    let worker = store.worker(["a", "b"], 8);
    let both = || [slots("k", 5), rate("r", Style::Fixed, 2, 1_000)];
    let starts = [store.enqueue("a", both()), store.enqueue("a", both())];
    assert_eq!(store.turn(worker), starts);
    let first = store.enqueue("a", both());
    assert_eq!(store.turn(worker), []);
    store.now = at(1_000);
    let second = store.enqueue("a", both());
    let plan = store.turn_with(
        worker,
        Ask {
            room: 1,
            ..Ask::default()
        },
    );
    assert_eq!(plan.starts[0].job, first);
    assert_eq!(store.turn(worker), [second]);
}

/// R43, R33: so it does where its own, larger size would admit it.
#[test]
fn a_job_with_a_larger_limit_stands_behind_its_own_lane() {
    let mut store = Store::new();
    let worker = store.worker(["a"], 8);
    let running = store.enqueue("a", [slots("k", 1)]);
    let narrow = store.enqueue("a", [slots("k", 1)]);
    assert_eq!(store.turn(worker), [running]);
    let wide = store.enqueue("a", [slots("k", 3)]);
    assert_eq!(store.turn(worker), []);
    assert_eq!(store.finish(worker, running), [narrow, wide]);
}

/// R33, R50: each job is judged by its own limit against the shared usage.
#[test]
fn different_limits_of_one_key_share_its_usage() {
    let mut store = Store::new();
    let worker = store.worker(["a"], 8);
    let wide = [
        store.enqueue("a", [slots("k", 3)]),
        store.enqueue("a", [slots("k", 3)]),
    ];
    assert_eq!(store.turn(worker), wide);
    let narrow = store.enqueue("b", [slots("k", 2)]);
    let other = store.worker(["b"], 8);
    assert_eq!(store.turn(other), []);
    let third = store.enqueue("a", [slots("k", 3)]);
    assert_eq!(
        store.turn(worker),
        [],
        "one is free, and the narrow job is ahead"
    );
    assert_eq!(
        store.finish(worker, wide[0]),
        [third],
        "two are free for it, one of them kept"
    );
    assert_eq!(store.finish(worker, wide[1]), []);
    assert_eq!(store.turn(other), [narrow]);
}

/// R47: jobs without policies and waiters are fetched in one order, which shows where the room is short.
#[test]
fn jobs_without_policies_stand_in_one_order_with_waiters() {
    let mut store = Store::new();
    let worker = store.worker(["a", "free"], 2);
    let before = store.enqueue("free", []);
    let running = store.enqueue("a", [mutex("m")]);
    assert_eq!(store.turn(worker), [before, running]);
    let waiter = store.enqueue("a", [mutex("m")]);
    store.turn_with(
        worker,
        Ask {
            room: 0,
            ..Ask::default()
        },
    );
    let free = store.enqueue("free", []);
    let urgent = store.enqueue_as(route("free"), 1, Arc::new([]));
    assert_eq!(store.finish(worker, running), [urgent]);
    assert_eq!(store.finish(worker, urgent), [waiter]);
    assert_eq!(store.finish(worker, before), [free]);
    assert!(store.lanes.is_empty());
}

/// R50: a job with a key that is not locked is left as it is, not admitted on a guess.
#[test]
fn a_job_with_an_unlocked_key_is_left_alone() {
    let waiter = Waiter {
        order: Order::new(0, at(0), JobId::new(2)),
        demands: Arc::new([mutex("m"), rate("r", Style::Fixed, 1, 1_000)]),
        first_start: true,
    };
    let server = Server {
        id: WorkerId::new(1),
        queues: ["queue".into()].into(),
        kinds: ["a".into()].into(),
    };
    let plan = plan(Turn {
        now: at(0),
        fleet: Fleet {
            me: server.id,
            workers: vec![server],
        },
        room: 8,
        candidates: vec![Candidate {
            waiter,
            route: route("a"),
            lane: None,
        }],
        lanes: Vec::new(),
        keys: [(slot_key("m"), KeyState::default())].into(),
    });
    assert!(plan.starts.is_empty() && plan.waits.is_empty() && plan.keys.is_empty());
}
