-- The routes of a worker: every queue with every kind, or none once it is draining.
-- ?1 worker
WITH route AS MATERIALIZED (
    SELECT q.value AS queue, k.value AS kind
    FROM warp_workers AS w CROSS JOIN json_each(w.queues) AS q CROSS JOIN json_each(w.kinds) AS k
    WHERE w.id = ?1 AND w.draining = 0
)
