//! Workers in processes of their own, which can be killed and frozen, and a notebook that they all write into.

mod chance;
mod jobs;
mod judge;
mod line;
mod notebook;
mod office;
mod order;
mod place;
mod server;
mod shim;
mod version;
mod worker_process;

pub use chance::Chance;
pub use jobs::*;
pub use judge::Judge;
pub use line::{Line, Trouble};
pub use notebook::{Note, Notebook};
pub use office::{Office, Outcome};
pub use place::{Costs, Opened, Place};
pub use server::Server;
pub use shim::Shim;
pub use version::Version;
pub use worker_process::{Shift, WorkerProcess};
