//! How a job becomes an elder (R46).

use warp_policy::ids::JobId;

use super::policies::{both, slot, token};
use super::scene::{Scene, TestWorker};
use crate::model::{End, JobState};

/// A job of two keys that was refused so often that one of them is kept for it.
pub(super) struct Elder {
    pub(super) id: JobId,
    /// A job that waits for the slot, which is free, since it is kept for the elder.
    pub(super) stands_back: JobId,
}

impl Elder {
    /// `worker` runs the jobs of kind `a` that take one of the keys whenever the other one is free, `other` is the elder's, of kind `b`.
    pub(super) async fn new(
        scene: &Scene<'_>,
        worker: &mut TestWorker,
        other: &mut TestWorker,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let first = scene.enqueue("a", token()?).await?;
        worker.settle(scene).await?;
        let id = scene.enqueue("b", both(slot()?, token()?)).await?;
        other.settle(scene).await?;
        worker.end(scene, first, End::Succeeded).await?;
        for round in 1..=4 {
            scene.at(10.0 * f64::from(round) - 1.0);
            let takes_the_slot = scene.enqueue("a", slot()?).await?;
            worker.settle(scene).await?;
            if scene.state(takes_the_slot).await? == JobState::Waiting {
                return Ok(Self {
                    id,
                    stands_back: takes_the_slot,
                });
            }
            scene.at(10.0 * f64::from(round));
            other.settle(scene).await?;
            let takes_the_token = scene.enqueue("a", token()?).await?;
            worker.settle(scene).await?;
            scene.at(10.0 * f64::from(round) + 1.0);
            for id in [takes_the_slot, takes_the_token] {
                worker.end(scene, id, End::Succeeded).await?;
                other.settle(scene).await?;
            }
        }
        Err("there was no elder".into())
    }
}
