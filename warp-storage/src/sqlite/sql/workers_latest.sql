-- ?1 the latest instant
UPDATE warp_workers SET latest = ?1
