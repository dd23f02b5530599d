//! The laws on memory.

use warp_policy::ids::JobId;
use warp_storage::conformance::{DAWN, Harness, Outcome};
use warp_storage::{ManualClock, Memory, Store, store_laws};

struct InMemory {
    memory: Memory,
    clock: ManualClock,
}

impl InMemory {
    fn new() -> Self {
        let clock = ManualClock::new(DAWN);
        Self {
            memory: Memory::with_clock(clock.clone()),
            clock,
        }
    }
}

impl Harness for InMemory {
    fn store(&self) -> &dyn Store {
        &self.memory
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    fn job_writes(&self, job: JobId) -> Option<u32> {
        Some(self.memory.writes(job))
    }

    fn judgements(&self) -> Option<u64> {
        let operations = self.memory.operations();
        Some(operations.candidates + operations.lanes)
    }

    fn limiter_writes(&self) -> Option<u64> {
        Some(self.memory.operations().limiter_writes)
    }

    fn overwrite_stamp(&self, job: JobId, text: &str) -> Option<()> {
        self.memory.overwrite_stamp(job, text);
        Some(())
    }

    fn lose_wake_ups(&self) -> Option<()> {
        self.memory.lose_wake_ups();
        Some(())
    }

    fn audit(&self) -> Outcome {
        Ok(self.memory.audit()?)
    }
}

store_laws!(InMemory::new());
