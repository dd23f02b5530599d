//! SQLite: the laws, and what is its own: cost, transactions of callers, several stores on one file, files in trouble.
#![expect(
    clippy::expect_used,
    reason = "a harness that cannot be built is a failed test"
)]

mod cost;
mod harness;

mod laws {
    use crate::harness::InFile;

    warp_storage::store_laws!(InFile::new().await);
}
