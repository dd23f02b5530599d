-- Waits for a turn of this worker that is under way, and lets no other one begin.
-- $1 worker
SELECT id FROM warp.workers WHERE id = $1::bigint FOR UPDATE
