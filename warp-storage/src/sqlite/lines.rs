//! How lanes and limiters are written.

use warp_policy::admission::LaneRef;
use warp_policy::ids::LaneId;

use super::error::SqliteError;
use super::statements::{LANES_DELETE, LANES_WRITE, LIMITERS_WRITE};
use super::writer::Session;
use crate::sql::documents::json;
use crate::sql::lines::LineWrites;

impl LineWrites {
    pub(super) async fn write(
        mut self,
        session: &mut Session,
        last_lane: i64,
    ) -> Result<(), SqliteError> {
        for lane in &mut self.new {
            lane.id = Some(lane_id(LaneRef::New(lane.number), last_lane));
        }
        self.lanes.append(&mut self.new);
        if !self.lanes.is_empty() {
            session
                .execute(sqlx::query(LANES_WRITE).bind(json(&self.lanes)))
                .await?;
        }
        if !self.gone.is_empty() {
            session
                .execute(sqlx::query(LANES_DELETE).bind(json(&self.gone)))
                .await?;
        }
        if !self.limiters.is_empty() {
            session
                .execute(sqlx::query(LIMITERS_WRITE).bind(json(&self.limiters)))
                .await?;
        }
        Ok(())
    }
}

/// The id of a lane that a plan names.
pub(super) fn lane_id(lane: LaneRef, last_lane: i64) -> LaneId {
    match lane {
        LaneRef::Existing(id) => id,
        LaneRef::New(index) => LaneId::new(
            last_lane
                .saturating_add_unsigned(index as u64)
                .saturating_add(1),
        ),
    }
}
