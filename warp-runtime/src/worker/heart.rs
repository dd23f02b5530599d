//! The heartbeat that no handler can hold up (R80).

use std::thread;

use tokio::runtime;
use tokio::sync::oneshot;
use warp_policy::ids::WorkerId;
use warp_storage::clock::{Clock, SystemClock};
use warp_storage::{Storage, StoreError};

use super::OnLeaseLost;
use super::lease::Lease;
use super::on_lease_lost::exit_when_lost;

/// How often it is looked in the time of a lease's patience whether somebody renews it.
const LOOKS: u32 = 10;

/// A thread with a runtime and a connection of its own. It renews the lease when the dispatcher does not, because handlers block all
/// threads of its runtime. Dropping it ends the thread.
#[derive(Debug)]
pub(super) struct Heart {
    _ends: oneshot::Sender<()>,
}

impl Heart {
    pub(super) fn start(
        storage: Storage,
        worker: WorkerId,
        lease: Lease,
        on_lease_lost: OnLeaseLost,
    ) -> Self {
        let (ends, ended) = oneshot::channel();
        let thread = thread::Builder::new().name("warp-heart".to_owned());
        let started = thread.spawn(move || {
            let runtime = match runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime,
                Err(error) => return without_a_heart(&error),
            };
            runtime.block_on(async {
                tokio::select! {
                    _ = ended => {}
                    () = beat(storage, worker, lease.clone()) => {}
                    () = exit_when_lost(lease), if on_lease_lost == OnLeaseLost::Exit => {}
                }
            });
        });
        if let Err(error) = started {
            without_a_heart(&error);
        }
        Self { _ends: ends }
    }
}

fn without_a_heart(error: &std::io::Error) {
    tracing::warn!(%error, "no thread for the heartbeat: handlers that block all threads will cost the worker its lease");
}

/// Beats whenever nobody has renewed the lease for longer than its patience. That is looked at in real time: it is there for what the
/// runtime's own timers cannot see.
async fn beat(storage: Storage, worker: WorkerId, lease: Lease) {
    let mut own = None;
    let mut seen = lease.renewed_at();
    let mut looks = 0;
    loop {
        SystemClock.sleep(lease.patience() / LOOKS).await;
        let renewed_at = lease.renewed_at();
        looks = if renewed_at == seen { looks + 1 } else { 0 };
        seen = renewed_at;
        if looks < LOOKS {
            continue;
        }
        match renew(&storage, &mut own, worker, &lease).await {
            // The dispatcher finds out by itself. Nobody renews the lease any more.
            Err(StoreError::WorkerGone { .. }) => return std::future::pending().await,
            Err(error) => {
                tracing::warn!(%error, "the heartbeat failed");
                own = None;
            }
            Ok(()) => {}
        }
    }
}

async fn renew(
    storage: &Storage,
    own: &mut Option<Storage>,
    worker: WorkerId,
    lease: &Lease,
) -> Result<(), StoreError> {
    let own = match own {
        Some(own) => own,
        None => own.insert(storage.another().await?),
    };
    let at = own.clock().now();
    own.heartbeat(worker).await?;
    lease.renewed(at);
    Ok(())
}
