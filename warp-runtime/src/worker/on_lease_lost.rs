//! What becomes of handlers that outlive the lease of their worker.

use warp_storage::clock::{Clock, SystemClock};

use super::lease::Lease;

/// The status with which a process ends that was told to, [`OnLeaseLost::Exit`]: that of an internal software error.
pub const LEASE_LOST_STATUS: i32 = 70;

/// What becomes of handlers that go on although their worker lost its lease (R81). Handlers that await something are stopped before that; one
/// that blocks its thread cannot be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnLeaseLost {
    /// They go on beside the worker that has their jobs now, and what they return is refused. What they still write elsewhere is to be fenced off
    /// by [`JobContext::fencing_token`](crate::JobContext::fencing_token). The default.
    #[default]
    Fence,
    /// The process ends, with [`LEASE_LOST_STATUS`], when nobody could renew the lease for five sixths of it and such a handler still runs: before
    /// anybody else is given its job, unless the process was frozen meanwhile. Nothing else in it is asked. For processes that a supervisor
    /// starts again.
    Exit,
}

impl OnLeaseLost {
    /// The store has declared the worker dead, and its handlers were dropped. Where the process is to end with those that go on, the worker does
    /// not begin anew before: they end, or it does.
    pub(super) async fn carry_out(self, lease: Lease) {
        if self == Self::Exit {
            lease.handlers_have_ended().await;
        }
    }
}

/// How often it is looked in the time of a lease, and after how many looks somebody must have renewed it.
const LOOKS: u32 = 24;
const LAST_LOOK: u32 = LOOKS * 5 / 6;

/// Ends the process if handlers outlive the lease. It is looked at in real time, on a thread that no handler can hold up.
pub(super) async fn exit_when_lost(lease: Lease) {
    let mut seen = lease.renewed_at();
    let mut missed = 0;
    loop {
        SystemClock.sleep(lease.length() / LOOKS).await;
        let renewed_at = lease.renewed_at();
        missed = if renewed_at == seen { missed + 1 } else { 0 };
        seen = renewed_at;
        let handlers = lease.handlers();
        if missed >= LAST_LOOK && handlers > 0 {
            tracing::error!(
                handlers,
                "the lease is lost, and handlers still run: the process ends"
            );
            std::process::exit(LEASE_LOST_STATUS);
        }
    }
}
