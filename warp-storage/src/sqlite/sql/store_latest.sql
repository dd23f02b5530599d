-- ?1 the latest instant
UPDATE warp_store SET latest = ?1
