-- What the clock showed before it went back is forgotten.
-- $1 now
WITH worker AS MATERIALIZED (
    SELECT id FROM warp.workers ORDER BY id FOR NO KEY UPDATE
)
, workers AS (
    UPDATE warp.workers AS w SET latest = $1::bigint FROM worker WHERE w.id = worker.id
)
UPDATE warp.store SET latest = $1::bigint
