-- As long as this is locked, the worker is not taken out; but it may take turns.
-- $1 worker
SELECT id FROM warp.workers WHERE id = $1::bigint FOR KEY SHARE
