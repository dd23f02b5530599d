//! PostgreSQL: the laws, and what is its own. Needs a server; see `../common/on_server.rs`.
#![expect(clippy::expect_used, reason = "what a test is built on must be there")]

mod cancelling;
mod cost;
mod isolation;
mod notices;
#[path = "../common/on_server.rs"]
mod on_server;
mod own_clock;
mod rights;
mod transactions;
mod versions;

mod laws {
    use crate::on_server::OnServer;

    warp_storage::store_laws!(match OnServer::new().await {
        Some(harness) => harness,
        None => return Ok(()),
    });
}
