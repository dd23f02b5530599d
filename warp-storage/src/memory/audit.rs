//! Whether the indexes say what the rows say. Asked by tests after every step.

use std::collections::BTreeSet;
use std::fmt::Debug;

use super::lines::Lines;
use super::rows::{JobRow, Phase};
use super::tables::Tables;

impl Tables {
    /// How many slots are held, and how many lanes there are.
    pub(super) fn leftovers(&self) -> (usize, usize) {
        let slots = self.limiters.values().map(|row| row.slots.len());
        (slots.sum(), self.lanes.len())
    }

    pub(super) fn audit(&self) -> Result<(), String> {
        self.audit_jobs()?;
        self.audit_slots()?;
        self.audit_lanes()
    }

    fn audit_jobs(&self) -> Result<(), String> {
        let ready = self.ready.iter();
        same(
            "ready jobs",
            ready.flat_map(|(route, orders)| orders.iter().map(move |&order| (route, order))),
            self.in_phase(|row| {
                matches!(row.phase, Phase::Enqueued).then(|| (&row.route, row.order()))
            }),
        )?;
        let scheduled = self.scheduled.iter();
        same(
            "scheduled jobs",
            scheduled.flat_map(|(route, jobs)| jobs.iter().map(move |&job| (route, job))),
            self.in_phase(|row| {
                matches!(row.phase, Phase::Scheduled).then(|| (&row.route, (row.place, row.id)))
            }),
        )?;
        let running = self.workers.iter();
        same(
            "running jobs",
            running.flat_map(|(&worker, row)| row.running.iter().map(move |&job| (worker, job))),
            self.in_phase(|row| match row.phase {
                Phase::Processing { worker, .. } => Some((worker, row.id)),
                _ => None,
            }),
        )
    }

    fn audit_slots(&self) -> Result<(), String> {
        let limiters = self.limiters.iter();
        let held = limiters.flat_map(|(key, row)| {
            row.slots
                .iter()
                .map(move |(&job, &claim)| (key, job, Some(claim)))
        });
        let holders = self.jobs.values().flat_map(|row| {
            let claim = match row.phase {
                Phase::Processing { claim, .. } => Some(claim),
                _ => None,
            };
            row.holds.iter().map(move |key| (key, row.id, claim))
        });
        same("slots", held, holders)
    }

    fn audit_lanes(&self) -> Result<(), String> {
        let lanes = || self.lanes.iter();
        same(
            "waiting jobs",
            lanes().flat_map(|(&id, lane)| {
                let waiters = lane.waiters.iter();
                waiters.map(move |&order| (id, &lane.route, order))
            }),
            self.in_phase(|row| match row.phase {
                Phase::Waiting(lane) => Some((lane, &row.route, row.order())),
                _ => None,
            }),
        )?;
        if let Some((id, lane)) = lanes().find(|(_, lane)| lane.waiters.is_empty()) {
            return Err(format!("nobody waits in lane {id}: {lane:?}"));
        }
        same(
            "lanes by their keys",
            self.lane_of
                .iter()
                .map(|((route, keys), &id)| (route, keys, id)),
            lanes().map(|(&id, lane)| (&lane.route, &lane.keys, id)),
        )?;
        let mut expected = Lines::default();
        for (&id, lane) in lanes() {
            expected.insert(id, lane);
        }
        if self.lines != expected {
            return Err(format!("lines: {:?} instead of {expected:?}", self.lines));
        }
        let limiters = self.limiters.iter();
        same(
            "keys to look at",
            self.looks.iter().map(|(at, key)| (*at, key)),
            limiters.filter_map(|(key, row)| Some((row.look_at?, key))),
        )
    }

    fn in_phase<'a, T>(
        &'a self,
        entry: impl Fn(&'a JobRow) -> Option<T>,
    ) -> impl Iterator<Item = T> {
        self.jobs.values().filter_map(entry)
    }
}

fn same<T: Debug + Ord>(
    what: &str,
    found: impl Iterator<Item = T>,
    expected: impl Iterator<Item = T>,
) -> Result<(), String> {
    let (found, expected): (BTreeSet<T>, BTreeSet<T>) = (found.collect(), expected.collect());
    if found == expected {
        return Ok(());
    }
    let missing: Vec<_> = expected.difference(&found).collect();
    let extra: Vec<_> = found.difference(&expected).collect();
    Err(format!(
        "{what}: {missing:?} are missing, {extra:?} should not be there"
    ))
}
