-- ?1 worker, ?2 now, ?3 whether it drains from now on
UPDATE warp_workers SET last_seen = ?2, draining = max(draining, ?3) WHERE id = ?1
