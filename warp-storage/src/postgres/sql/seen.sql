-- Notes how far the clock has come. A worker that was seen in the future saw a clock that has gone back since: its lease begins anew (R66).
-- $1 now
WITH worker AS MATERIALIZED (
    SELECT id FROM warp.workers WHERE last_seen > $1::bigint ORDER BY id FOR NO KEY UPDATE
)
, workers AS (
    UPDATE warp.workers AS w SET last_seen = $1::bigint FROM worker WHERE w.id = worker.id
)
UPDATE warp.store SET latest = greatest(latest, $1::bigint)
