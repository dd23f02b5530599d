//! How long older heads that only others can run hold up a worker (R43).

use std::collections::BTreeMap;

use super::YIELD_MICROS;
use super::fleet::Fleet;
use super::model::Route;
use crate::time::Timestamp;

/// The foreign lanes ahead in a line, in the eyes of those who cannot run them.
#[derive(Debug, Default)]
pub(super) struct Yields<'a> {
    /// By route, the first instant at which its lanes hold up nobody else any more.
    by_route: BTreeMap<&'a Route, Timestamp>,
}

impl<'a> Yields<'a> {
    /// Adds the next foreign lane of the line. Returns from when on it no longer counts: a second after it became due; or with a lane
    /// ahead of it, where everybody who can run this one can run that one too. They did not take that one, so they have no room for
    /// this one either, and another second would be left to nobody.
    pub(super) fn add(
        &mut self,
        fleet: &Fleet,
        route: &'a Route,
        due: Option<Timestamp>,
    ) -> Option<Timestamp> {
        let alone = due.map(|due| due.plus_micros(YIELD_MICROS));
        let ahead = self.by_route.iter();
        let with_another = ahead
            .filter(|(before, _)| !fleet.some_run_only(route, before))
            .map(|(_, &since)| since);
        let since = alone.into_iter().chain(with_another).min()?;
        let known = self.by_route.entry(route).or_insert(since);
        *known = since.min(*known);
        Some(since)
    }
}
