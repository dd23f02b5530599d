//! What statements answer: one JSON document each, so that a statement costs one row however much it reads.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};
use warp_policy::Timestamp;
use warp_policy::admission::{Family, KeyId, Order, Route, Server};
use warp_policy::ids::{JobId, LaneId, WorkerId};
use warp_policy::key::Key;

/// What a turn knows before it takes the write lock.
#[derive(Debug, Deserialize)]
pub(crate) struct Peek {
    pub(crate) worker: Option<Seen>,
    pub(crate) latest: Timestamp,
    pub(crate) unresolved: Vec<UnresolvedRow>,
    /// The stamps of the others that it will judge, where that was asked for.
    #[cfg(feature = "postgres")]
    #[serde(default)]
    pub(crate) stamps: Vec<String>,
    pub(crate) held: Vec<HeldSlot>,
    /// What this worker still runs although it was cancelled.
    pub(crate) cancelled: Vec<JobId>,
    pub(crate) agenda: Agenda,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Seen {
    pub(crate) lease: u64,
    pub(crate) last_seen: Timestamp,
}

/// A ready job without a stamp.
#[derive(Debug, Deserialize)]
pub(crate) struct UnresolvedRow {
    pub(crate) id: JobId,
    pub(crate) kind: Arc<str>,
    pub(crate) payload: String,
    pub(crate) explicit: String,
}

/// A slot of an attempt that ended.
#[derive(Debug, Deserialize)]
pub(crate) struct HeldSlot {
    pub(crate) job: JobId,
    pub(crate) key: KeyId,
}

/// What a worker can find without anything else happening, and when.
#[derive(Debug, Deserialize)]
pub(crate) struct Agenda {
    #[serde(deserialize_with = "truth")]
    pub(crate) ready: bool,
    pub(crate) scheduled: Option<Timestamp>,
    pub(crate) look_at: Option<Timestamp>,
    /// The routes with lanes that are, or will be, due.
    pub(crate) lanes: Vec<TimedRoute>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct TimedRoute {
    pub(crate) route: RouteRow,
    pub(crate) next_at: Timestamp,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RouteRow {
    pub(crate) queue: Arc<str>,
    pub(crate) kind: Arc<str>,
}

impl From<RouteRow> for Route {
    fn from(row: RouteRow) -> Self {
        Self {
            queue: row.queue,
            kind: row.kind,
        }
    }
}

/// A lane to judge, with its first jobs.
#[derive(Debug, Deserialize)]
pub(crate) struct JudgedLane {
    pub(crate) lane: LaneRow,
    pub(crate) jobs: Vec<JobRow>,
}

/// The workers, and how far the clock and the log have come.
#[derive(Debug, Deserialize)]
pub(crate) struct Presence {
    pub(crate) workers: Vec<WorkerRow>,
    pub(crate) latest: Timestamp,
    #[cfg(feature = "sqlite")]
    #[serde(default)]
    pub(crate) last_line: i64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct WorkerRow {
    pub(crate) id: WorkerId,
    #[cfg(feature = "sqlite")]
    #[serde(default)]
    pub(crate) process: String,
    pub(crate) queues: std::collections::BTreeSet<Arc<str>>,
    pub(crate) kinds: std::collections::BTreeSet<Arc<str>>,
    pub(crate) lease: u64,
    pub(crate) last_seen: Timestamp,
    #[serde(deserialize_with = "truth")]
    pub(crate) draining: bool,
}

impl WorkerRow {
    pub(crate) fn is_alive(&self, now: Timestamp) -> bool {
        now.micros_since(self.last_seen) < self.lease
    }

    pub(crate) fn server(&self) -> Server {
        Server {
            id: self.id,
            queues: self.queues.clone(),
            kinds: self.kinds.clone(),
        }
    }
}

/// A lane with its head.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct LaneRow {
    pub(crate) id: LaneId,
    pub(crate) route: RouteRow,
    pub(crate) keys: Vec<KeyId>,
    pub(crate) sleep_family: Family,
    pub(crate) sleep_key: Key,
    pub(crate) next_at: Option<Timestamp>,
    pub(crate) refusals: u32,
    pub(crate) rank: i64,
    pub(crate) place: Timestamp,
    pub(crate) head: JobId,
    /// The stamp of its head, where that was asked for.
    #[serde(default)]
    pub(crate) stamp: Option<String>,
}

impl LaneRow {
    pub(crate) fn order(&self) -> Order {
        order(self.rank, self.place, self.head)
    }

    pub(crate) fn sleeps_on(&self) -> KeyId {
        KeyId {
            family: self.sleep_family,
            key: self.sleep_key.clone(),
        }
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct ReadyRow {
    pub(crate) route: RouteRow,
    pub(crate) job: JobRow,
}

#[derive(Debug, Deserialize)]
pub(crate) struct JobRow {
    pub(crate) id: JobId,
    pub(crate) rank: i64,
    pub(crate) place: Timestamp,
    pub(crate) attempts: u32,
    pub(crate) starts: u32,
    pub(crate) stamp: Option<String>,
}

impl JobRow {
    pub(crate) fn order(&self) -> Order {
        order(self.rank, self.place, self.id)
    }
}

/// Keys with what is remembered of them; `number` counts them as they were asked for.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Keys {
    pub(crate) limiters: Vec<LimiterRow>,
    pub(crate) used: Vec<Used>,
    pub(crate) line: Vec<NumberedLane>,
    /// The lanes of the key sets that were asked for.
    pub(crate) lanes: Vec<NumberedLane>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct LimiterRow {
    pub(crate) number: usize,
    pub(crate) rate: Option<String>,
    pub(crate) elder: Option<LaneId>,
    pub(crate) look_at: Option<Timestamp>,
    pub(crate) elder_lane: Option<ElderLane>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ElderLane {
    pub(crate) route: RouteRow,
    pub(crate) rank: i64,
    pub(crate) place: Timestamp,
    pub(crate) head: JobId,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Used {
    pub(crate) number: usize,
    pub(crate) slots: u32,
}

#[derive(Debug, Deserialize)]
pub(crate) struct NumberedLane {
    pub(crate) number: usize,
    pub(crate) lane: LaneRow,
}

/// What a worker runs.
#[derive(Debug, Deserialize)]
pub(crate) struct RunningJobs {
    pub(crate) jobs: Vec<RunningJob>,
    pub(crate) keys: Vec<KeyId>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct RunningJob {
    pub(crate) id: JobId,
    pub(crate) lost: u32,
    #[serde(deserialize_with = "truth")]
    pub(crate) is_cancelled: bool,
}

/// The part of the file that a sweep looks at.
#[derive(Debug, Deserialize)]
pub(crate) struct SweepPart {
    pub(crate) lines: Vec<KeyId>,
    pub(crate) limiters: Vec<SweptLimiter>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct SweptLimiter {
    pub(crate) key: KeyId,
    pub(crate) rate: Option<String>,
    #[serde(deserialize_with = "truth")]
    pub(crate) is_used: bool,
}

/// The order of a job as its row has it: a rank is minus a priority.
pub(crate) fn order(rank: i64, place: Timestamp, id: JobId) -> Order {
    let priority = rank
        .saturating_neg()
        .clamp(i32::MIN.into(), i32::MAX.into());
    #[expect(clippy::cast_possible_truncation, reason = "it was clamped")]
    Order::new(priority as i32, place, id)
}

/// A priority as it is stored, so that every order ascends.
pub(crate) fn rank(priority: i32) -> i64 {
    -i64::from(priority)
}

/// SQLite's truth is a number.
pub(crate) fn truth<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Truth {
        Bool(bool),
        Number(i64),
    }

    Ok(match Truth::deserialize(deserializer)? {
        Truth::Bool(truth) => truth,
        Truth::Number(number) => number != 0,
    })
}

/// A list, or whatever else a statement takes.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> String {
    #[expect(
        clippy::expect_used,
        reason = "numbers, texts and lists of them always serialize"
    )]
    serde_json::to_string(value).expect("plain data serializes")
}

/// A family as it is stored.
pub(crate) fn family(family: Family) -> &'static str {
    match family {
        Family::RateLimit => "rate_limit",
        _ => "concurrency",
    }
}
