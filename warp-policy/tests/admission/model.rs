//! A deliberately naive store: plain maps, no indexes, everything looked up by walking. Every turn is checked three times, each time
//! by other means: [`history`] counts what runs and what started, [`reference`] judges again from scratch, and [`invariant`] finds
//! each lane's instant by trying.

mod apply;
mod history;
mod invariant;
mod reference;
mod store;
mod turn;

pub(crate) use self::store::{Phase, Store};
pub(crate) use self::turn::{Ask, Outcome, started};
