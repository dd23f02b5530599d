//! What a worker runs, held against what the store says that it runs.

use warp_storage::StoreError;
use warp_storage::model::{End, Finished};

use super::dispatch::Dispatcher;

impl Dispatcher {
    /// Reads back what the worker runs: after a turn that was not answered, and now and then (R85). What such a turn started is started
    /// here, or given back where the worker stops; what it wrote is not written again. A handler whose job is no longer this worker's is
    /// stopped.
    pub(super) async fn read_back(&mut self, claims: bool) -> Result<(), StoreError> {
        self.collect();
        let mut known = self.running.claims();
        known.extend(self.finished.iter().map(|finished| finished.claim));
        known.extend(self.disowned.iter().map(|disowned| disowned.claim));
        let read = self.storage.read_back(self.worker, known).await?;
        self.finished
            .retain(|finished| read.held.contains(&finished.claim));
        self.disowned
            .retain(|disowned| read.held.contains(&disowned.claim));
        for job in self.running.jobs_without(&read.held) {
            tracing::warn!(%job, "the store says that this worker does not run the job: its handler is stopped");
            self.running.cancel_job(job);
        }
        for started in read.started {
            let (job, claim) = (started.job, started.claim);
            tracing::warn!(%job, "a turn that was not answered had started the job");
            if claims {
                self.start(started);
            } else {
                let end = End::Returned;
                self.finished.push(Finished { job, claim, end });
            }
        }
        self.is_uncertain = false;
        Ok(())
    }
}
