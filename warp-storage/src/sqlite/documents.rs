//! What statements answer: one JSON document each, so that a statement costs one row however much it reads.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};
use warp_policy::Timestamp;
use warp_policy::admission::{Family, KeyId, Order, Route, Server};
use warp_policy::ids::{JobId, LaneId, WorkerId};
use warp_policy::key::Key;

/// What a turn knows before it takes the write lock.
#[derive(Debug, Deserialize)]
pub(super) struct Peek {
    pub(super) worker: Option<Seen>,
    pub(super) latest: Timestamp,
    pub(super) unresolved: Vec<UnresolvedRow>,
    pub(super) held: Vec<HeldSlot>,
    pub(super) agenda: Agenda,
}

#[derive(Debug, Deserialize)]
pub(super) struct Seen {
    pub(super) lease: u64,
    pub(super) last_seen: Timestamp,
}

/// A ready job without a stamp.
#[derive(Debug, Deserialize)]
pub(super) struct UnresolvedRow {
    pub(super) id: JobId,
    pub(super) kind: Arc<str>,
    pub(super) payload: String,
    pub(super) explicit: String,
}

/// A slot of an attempt that ended.
#[derive(Debug, Deserialize)]
pub(super) struct HeldSlot {
    pub(super) job: JobId,
    pub(super) key: KeyId,
}

/// What a worker can find without anything else happening, and when.
#[derive(Debug, Deserialize)]
pub(super) struct Agenda {
    #[serde(deserialize_with = "truth")]
    pub(super) ready: bool,
    pub(super) scheduled: Option<Timestamp>,
    pub(super) look_at: Option<Timestamp>,
    /// The routes with lanes that are, or will be, due.
    pub(super) lanes: Vec<TimedRoute>,
}

#[derive(Debug, Deserialize)]
pub(super) struct TimedRoute {
    pub(super) route: RouteRow,
    pub(super) next_at: Timestamp,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RouteRow {
    pub(super) queue: Arc<str>,
    pub(super) kind: Arc<str>,
}

impl From<RouteRow> for Route {
    fn from(row: RouteRow) -> Self {
        Self {
            queue: row.queue,
            kind: row.kind,
        }
    }
}

/// Who is there, and what is due for a turn.
#[derive(Debug, Deserialize)]
pub(super) struct Due {
    pub(super) presence: Presence,
    pub(super) last_lane: i64,
    pub(super) looks: Vec<KeyId>,
    pub(super) lanes: Vec<JudgedLane>,
    pub(super) ready: Vec<ReadyRow>,
}

/// A lane to judge, with its first jobs.
#[derive(Debug, Deserialize)]
pub(super) struct JudgedLane {
    pub(super) lane: LaneRow,
    pub(super) jobs: Vec<JobRow>,
}

/// The workers, and how far the clock and the log have come.
#[derive(Debug, Deserialize)]
pub(super) struct Presence {
    pub(super) workers: Vec<WorkerRow>,
    pub(super) latest: Timestamp,
    pub(super) last_line: i64,
}

#[derive(Debug, Deserialize)]
pub(super) struct WorkerRow {
    pub(super) id: WorkerId,
    pub(super) process: String,
    pub(super) queues: std::collections::BTreeSet<Arc<str>>,
    pub(super) kinds: std::collections::BTreeSet<Arc<str>>,
    pub(super) lease: u64,
    pub(super) last_seen: Timestamp,
    #[serde(deserialize_with = "truth")]
    pub(super) draining: bool,
}

impl WorkerRow {
    pub(super) fn is_alive(&self, now: Timestamp) -> bool {
        now.micros_since(self.last_seen) < self.lease
    }

    pub(super) fn server(&self) -> Server {
        Server {
            id: self.id,
            queues: self.queues.clone(),
            kinds: self.kinds.clone(),
        }
    }
}

/// A lane with its head.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct LaneRow {
    pub(super) id: LaneId,
    pub(super) route: RouteRow,
    pub(super) keys: Vec<KeyId>,
    pub(super) sleep_family: Family,
    pub(super) sleep_key: Key,
    pub(super) next_at: Option<Timestamp>,
    pub(super) refusals: u32,
    pub(super) rank: i64,
    pub(super) place: Timestamp,
    pub(super) head: JobId,
    /// The stamp of its head, where that was asked for.
    #[serde(default)]
    pub(super) stamp: Option<String>,
}

impl LaneRow {
    pub(super) fn order(&self) -> Order {
        order(self.rank, self.place, self.head)
    }

    pub(super) fn sleeps_on(&self) -> KeyId {
        KeyId {
            family: self.sleep_family,
            key: self.sleep_key.clone(),
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct ReadyRow {
    pub(super) route: RouteRow,
    pub(super) job: JobRow,
}

#[derive(Debug, Deserialize)]
pub(super) struct JobRow {
    pub(super) id: JobId,
    pub(super) rank: i64,
    pub(super) place: Timestamp,
    pub(super) attempts: u32,
    pub(super) starts: u32,
    pub(super) stamp: Option<String>,
}

impl JobRow {
    pub(super) fn order(&self) -> Order {
        order(self.rank, self.place, self.id)
    }
}

/// Keys with what is remembered of them; `number` counts them as they were asked for.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Keys {
    pub(super) limiters: Vec<LimiterRow>,
    pub(super) used: Vec<Used>,
    pub(super) line: Vec<NumberedLane>,
    /// The lanes of the key sets that were asked for.
    pub(super) lanes: Vec<NumberedLane>,
}

#[derive(Debug, Deserialize)]
pub(super) struct LimiterRow {
    pub(super) number: usize,
    pub(super) rate: Option<String>,
    pub(super) elder: Option<LaneId>,
    pub(super) look_at: Option<Timestamp>,
    pub(super) elder_lane: Option<ElderLane>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ElderLane {
    pub(super) route: RouteRow,
    pub(super) rank: i64,
    pub(super) place: Timestamp,
    pub(super) head: JobId,
}

#[derive(Debug, Deserialize)]
pub(super) struct Used {
    pub(super) number: usize,
    pub(super) slots: u32,
}

#[derive(Debug, Deserialize)]
pub(super) struct NumberedLane {
    pub(super) number: usize,
    pub(super) lane: LaneRow,
}

/// What a worker runs.
#[derive(Debug, Deserialize)]
pub(super) struct RunningJobs {
    pub(super) jobs: Vec<RunningJob>,
    pub(super) keys: Vec<KeyId>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RunningJob {
    pub(super) id: JobId,
    pub(super) lost: u32,
}

/// The part of the file that a sweep looks at.
#[derive(Debug, Deserialize)]
pub(super) struct SweepPart {
    pub(super) lines: Vec<KeyId>,
    pub(super) limiters: Vec<SweptLimiter>,
}

#[derive(Debug, Deserialize)]
pub(super) struct SweptLimiter {
    pub(super) key: KeyId,
    pub(super) rate: Option<String>,
    #[serde(deserialize_with = "truth")]
    pub(super) is_used: bool,
}

/// The order of a job as its row has it: a rank is minus a priority.
pub(super) fn order(rank: i64, place: Timestamp, id: JobId) -> Order {
    let priority = rank
        .saturating_neg()
        .clamp(i32::MIN.into(), i32::MAX.into());
    #[expect(clippy::cast_possible_truncation, reason = "it was clamped")]
    Order::new(priority as i32, place, id)
}

/// A priority as it is stored, so that every order ascends.
pub(super) fn rank(priority: i32) -> i64 {
    -i64::from(priority)
}

/// SQLite's truth is a number.
fn truth<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    i64::deserialize(deserializer).map(|number| number != 0)
}

/// A list, or whatever else a statement takes.
pub(super) fn json<T: Serialize + ?Sized>(value: &T) -> String {
    #[expect(
        clippy::expect_used,
        reason = "numbers, texts and lists of them always serialize"
    )]
    serde_json::to_string(value).expect("plain data serializes")
}

/// A family as it is stored.
pub(super) fn family(family: Family) -> &'static str {
    match family {
        Family::RateLimit => "rate_limit",
        _ => "concurrency",
    }
}
