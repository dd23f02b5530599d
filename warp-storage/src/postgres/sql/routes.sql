-- The routes of a worker: every queue with every kind, or none once it is draining.
-- $1 worker
WITH RECURSIVE route AS MATERIALIZED (
    SELECT q.queue, k.kind
    FROM warp.workers AS w CROSS JOIN LATERAL unnest(w.queues) AS q (queue) CROSS JOIN LATERAL unnest(w.kinds) AS k (kind)
    WHERE w.id = $1::bigint AND NOT w.draining
)
