//! What the SQL backends have in common: the documents that their statements answer, what is made of them, and what is written in the end.
//! How it is read, locked and written is each backend's own.

pub(crate) mod agenda;
pub(crate) mod cancelling;
pub(crate) mod decided;
pub(crate) mod documents;
pub(crate) mod ends;
pub(crate) mod given_back;
pub(crate) mod judging;
pub(crate) mod limiters;
pub(crate) mod lines;
pub(crate) mod log;
pub(crate) mod read_back;
pub(crate) mod reading;
mod stamps;
pub(crate) mod sweeping;
pub(crate) mod view;
