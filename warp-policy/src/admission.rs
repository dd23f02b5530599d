//! Admission: who starts, who waits in which line, who is skipped (R40–R49).
//!
//! [`plan`] is the whole of it. A store calls it inside its dispatch transaction with what it read under its locks (a [`Turn`]) and
//! writes what comes back (a [`Plan`]). It decides in three steps:
//!
//! 1. ready jobs and lane heads are judged in one order, each against all its keys at once (`judge.rs`);
//! 2. the refused are put in line, the started leave it (`planner.rs`);
//! 3. for every key of the turn the lanes that may go next are marked due and all others asleep (`restore.rs`).
//!
//! The state that a turn leaves behind is such that nobody needs to poll: every lane that could be admitted is due, or becomes so at a
//! known instant, or waits for a change of its key, which is a turn of its own.

mod book;
mod fleet;
mod judge;
mod lanes;
mod model;
mod plan;
mod planner;
mod restore;
mod turn;
mod yields;

pub use self::fleet::{Fleet, Server};
pub use self::model::{Demand, Family, KeyId, Order, Route, Want, demands};
pub use self::plan::{
    Cause, KeyUpdate, LaneRef, LaneState, LaneUpdate, NewLane, Plan, Refusal, Skip, Start, Wait,
};
pub use self::turn::{
    Candidate, Control, Elder, KeyState, LINE_READ, Lane, LaneView, Pause, SizeOverride, Turn,
    Waiter,
};

/// How long a free key is left to an older head that only other workers can run (R43), in microseconds.
pub const YIELD_MICROS: u64 = 1_000_000;

/// Decides one dispatch turn.
pub fn plan(turn: Turn) -> Plan {
    planner::Planner::new(turn).run()
}
