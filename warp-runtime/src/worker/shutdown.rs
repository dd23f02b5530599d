//! The end of a worker.

use warp_storage::StoreError;
use warp_storage::clock::Sleep;

use super::WorkerError;
use super::dispatch::{Dispatcher, trouble};
use super::running::CANCEL_NOTICE;

/// How often the last results are tried to be written.
const STOP_ATTEMPTS: usize = 5;

impl Dispatcher {
    /// Stops claiming, lets handlers finish, cancels and returns the rest (R83).
    pub(super) async fn stop(mut self) -> Result<(), WorkerError> {
        if let Err(error) = self.storage.drain(self.worker).await {
            tracing::warn!(%error, "the store was not told that the worker is stopping");
        }
        // A turn that was not answered may have started something.
        if let Err(error) = self.write_results().await {
            tracing::warn!(%error, "the results were not written yet");
        }
        let grace = self.clock.sleep(self.settings.grace);
        self.finish_until(grace).await;
        self.running.cancel();
        let notice = self.clock.sleep(CANCEL_NOTICE);
        self.finish_until(notice).await;
        self.running.abort();
        // One that blocks its thread cannot be dropped. Its job is not given back while it still runs.
        self.finish_until(Box::pin(std::future::pending())).await;
        self.write_last_results().await.map_err(WorkerError::Stop)
    }

    /// Writes the results of handlers as they end, until all have, or `limit` does.
    async fn finish_until(&mut self, limit: Sleep) {
        let mut limit = limit;
        loop {
            tokio::select! {
                biased;
                finished = self.running.next() => match finished {
                    Some(finished) => self.finished.push(finished),
                    None => return,
                },
                () = self.pulse.wait() => {
                    if let Err(error) = self.pulse.beat().await {
                        tracing::warn!(%error, "the heartbeat failed");
                    }
                    continue;
                }
                () = self.cancels.cancelled() => {}
                () = &mut limit => return,
            }
            if let Err(error) = self.write_results().await {
                tracing::warn!(%error, "a result was not written yet");
            }
        }
    }

    /// Turns until the store has taken every result: some may have to wait for what others hold.
    async fn write_results(&mut self) -> Result<(), StoreError> {
        loop {
            self.take_turn(false).await?;
            if self.finished.is_empty() {
                return Ok(());
            }
        }
    }

    async fn write_last_results(&mut self) -> Result<(), StoreError> {
        let mut delays = trouble(self.settings.lease).take(STOP_ATTEMPTS);
        let mut has_left = false;
        loop {
            let written = match self.write_results().await {
                Ok(()) => {
                    has_left = true;
                    self.storage.deregister(self.worker).await
                }
                Err(error) => Err(error),
            };
            let error = match written {
                Ok(()) => return Ok(()),
                // The answer to its leaving did not come.
                Err(StoreError::WorkerGone { .. }) if has_left => return Ok(()),
                Err(error) => error,
            };
            match delays.next() {
                Some(delay) if error.is_retryable() => self.clock.sleep(delay).await,
                _ => return Err(error),
            }
        }
    }
}
