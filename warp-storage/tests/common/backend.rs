//! What tests that watch from outside ask of a backend.

use warp_storage::conformance::Harness;
use warp_storage::store::async_trait;

use crate::in_file::InFile;
use crate::in_memory::InMemory;
#[cfg(feature = "postgres")]
use crate::on_server::OnServer;

/// A fresh store, with a look behind it.
#[async_trait]
pub(crate) trait Backend: Harness {
    /// How many slots are held, and how many lanes there are; `None` where the backend cannot tell.
    async fn leftovers(&self) -> Option<(usize, usize)> {
        None
    }
}

#[async_trait]
impl Backend for InMemory {
    async fn leftovers(&self) -> Option<(usize, usize)> {
        Some(self.memory.leftovers())
    }
}

#[async_trait]
impl Backend for InFile {
    async fn leftovers(&self) -> Option<(usize, usize)> {
        let slots = self.ask("SELECT count(*) FROM warp_slots").await;
        let lanes = self.ask("SELECT count(*) FROM warp_lanes").await;
        Some((usize::try_from(slots).ok()?, usize::try_from(lanes).ok()?))
    }
}

#[cfg(feature = "postgres")]
#[async_trait]
impl Backend for OnServer {
    async fn leftovers(&self) -> Option<(usize, usize)> {
        let slots = self.ask("SELECT count(*) FROM warp.slots").await;
        let lanes = self.ask("SELECT count(*) FROM warp.lanes").await;
        Some((usize::try_from(slots).ok()?, usize::try_from(lanes).ok()?))
    }
}
