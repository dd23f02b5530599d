//! Results that the store refuses.

use std::mem;

use warp_policy::ids::{ClaimId, JobId};
use warp_storage::StoreError;
use warp_storage::model::{End, Finished};

use super::dispatch::Dispatcher;
use crate::handlers::storable;

/// What is kept of an error whose text the store refuses.
const TEXT_REFUSED: &str = "the attempt failed; the store refused the text of its error";

/// An attempt that is given up, since its end cannot be written.
#[derive(Debug)]
pub(super) struct Disowned {
    job: JobId,
    pub(super) claim: ClaimId,
    error: String,
}

impl Dispatcher {
    /// Writes results that the store has refused together: in halves, down to the one that it refuses. Of that the text is left out; if it is
    /// refused even so, the attempt is given up (R85).
    pub(super) async fn write_apart(&mut self) -> Result<(), StoreError> {
        let mut parts = vec![mem::take(&mut self.finished)];
        while let Some(mut part) = parts.pop() {
            match self.turn(part.clone(), 0, 0).await {
                Ok(dispatched) => {
                    part.retain(|finished| dispatched.left.contains(&finished.claim));
                    self.finished.extend(part);
                    self.hear(&dispatched);
                }
                Err(StoreError::Refused { .. }) if part.len() > 1 => {
                    parts.push(part.split_off(part.len() / 2));
                    parts.push(part);
                }
                Err(error @ StoreError::Refused { .. }) => {
                    parts.extend(part.pop().and_then(|one| self.write_less(one, &error)));
                }
                Err(error) => {
                    self.finished.extend(part);
                    self.finished.extend(parts.into_iter().flatten());
                    return Err(error);
                }
            }
        }
        self.disown().await;
        Ok(())
    }

    /// The least that can be written of a result that was refused, if that is less.
    fn write_less(&mut self, one: Finished, error: &StoreError) -> Option<Vec<Finished>> {
        let Finished { job, claim, end } = one;
        let least = match end {
            End::Retry { error, after } if error != TEXT_REFUSED => Some(End::Retry {
                error: TEXT_REFUSED.to_owned(),
                after,
            }),
            End::Failed { error } if error != TEXT_REFUSED => Some(End::Failed {
                error: TEXT_REFUSED.to_owned(),
            }),
            _ => None,
        };
        if let Some(end) = least {
            tracing::error!(%job, %error, "the store refuses the result of the job: its text is left out");
            return Some(vec![Finished { job, claim, end }]);
        }
        tracing::error!(%job, %error, "the store refuses the result of the job: the attempt is given up");
        let error = storable(&error.to_string());
        self.disowned.push(Disowned { job, claim, error });
        None
    }

    /// Has the store give back the jobs of attempts that are given up. Those that it cannot give back either are tried again at the next beat.
    pub(super) async fn disown(&mut self) {
        for disowned in mem::take(&mut self.disowned) {
            let Disowned { job, claim, error } = &disowned;
            let sweep = self.pulse.sweep();
            let disown = self
                .storage
                .disown(self.worker, *claim, error.clone(), sweep);
            if let Err(error) = disown.await {
                tracing::error!(%job, %error, "the attempt could not be given up yet");
                self.disowned.push(disowned);
            }
        }
    }
}
