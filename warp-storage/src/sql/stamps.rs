//! What jobs ask, by the stamps on their rows.

use std::collections::HashMap;
use std::sync::Arc;

use warp_policy::admission::{Demand, demands};

use super::documents::LaneRow;
use crate::stamp;

/// What the stamps of a turn ask. Most jobs of a lane have the same one: each text is read once.
#[derive(Debug, Default)]
pub(crate) struct Stamps {
    known: HashMap<String, Result<Arc<[Demand]>, String>>,
}

impl Stamps {
    /// What a stamped job asks, or why it has to fail.
    pub(crate) fn demands(&mut self, text: &str) -> Result<Arc<[Demand]>, String> {
        if let Some(known) = self.known.get(text) {
            return known.clone();
        }
        let read = stamp::read(text).map(|stamp| demands(&stamp));
        self.known.insert(text.to_owned(), read.clone());
        read
    }

    /// What a job asks that waits in a lane; its stamp must fit the lane.
    pub(crate) fn demands_in(
        &mut self,
        lane: &LaneRow,
        text: Option<&str>,
    ) -> Result<Arc<[Demand]>, String> {
        let other_keys = || stamp::OTHER_KEYS.to_owned();
        let demands = self.demands(text.ok_or_else(other_keys)?)?;
        let fits = demands.len() == lane.keys.len()
            && demands.iter().all(|demand| lane.keys.contains(&demand.key))
            && lane.keys.contains(&lane.sleeps_on());
        if fits { Ok(demands) } else { Err(other_keys()) }
    }
}
