//! The laws on memory.

#[path = "common/in_memory.rs"]
mod in_memory;

use warp_storage::store_laws;

use crate::in_memory::InMemory;

store_laws!(InMemory::new());
