//! Memory, the reference model, as the tests of this crate take it.

use warp_policy::ids::JobId;
use warp_storage::conformance::{DAWN, Harness, Outcome};
use warp_storage::store::async_trait;
use warp_storage::{ManualClock, Memory, Store};

/// A store in memory, on a clock that stands at [`DAWN`].
pub(crate) struct InMemory {
    pub(crate) memory: Memory,
    clock: ManualClock,
}

impl InMemory {
    pub(crate) fn new() -> Self {
        let clock = ManualClock::new(DAWN);
        Self {
            memory: Memory::with_clock(clock.clone()),
            clock,
        }
    }
}

#[async_trait]
impl Harness for InMemory {
    fn store(&self) -> &dyn Store {
        &self.memory
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    async fn job_writes(&self, job: JobId) -> Option<u32> {
        Some(self.memory.writes(job))
    }

    async fn judgements(&self) -> Option<u64> {
        let operations = self.memory.operations();
        Some(operations.candidates + operations.lanes)
    }

    async fn limiter_writes(&self) -> Option<u64> {
        Some(self.memory.operations().limiter_writes)
    }

    async fn overwrite_stamp(&self, job: JobId, text: &str) -> Option<()> {
        self.memory.overwrite_stamp(job, text);
        Some(())
    }

    async fn lose_wake_ups(&self) -> Option<()> {
        self.memory.lose_wake_ups();
        Some(())
    }

    async fn audit(&self) -> Outcome {
        Ok(self.memory.audit()?)
    }
}
