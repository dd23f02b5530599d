//! SQLite: the laws, and what is its own: cost, transactions of callers, several stores on one file, files in trouble.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "what a test is built on must be there"
)]

mod cost;
#[path = "../common/in_file.rs"]
mod in_file;
#[cfg(target_os = "linux")]
mod read_only;
mod transactions;
mod trouble;
mod versions;

mod laws {
    use crate::in_file::InFile;

    warp_storage::store_laws!(InFile::new().await);
}
