-- Takes the worker out. What it saw of the clock must not go with it.
, gone AS (
    DELETE FROM warp.workers WHERE id = $1::bigint RETURNING latest
)
, latest AS (
    UPDATE warp.store AS s SET latest = greatest(s.latest, g.latest) FROM gone AS g
)
