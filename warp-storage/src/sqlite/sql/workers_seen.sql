-- A worker that was seen in the future saw a clock that has gone back since: its lease begins anew (R66).
-- ?1 now
UPDATE warp_workers SET last_seen = ?1 WHERE last_seen > ?1
