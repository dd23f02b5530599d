-- The first ready jobs of each route, those that became so at their instant included: the turn has written that before.
-- `bound` is the order before which they stand.
-- $4 how many to read
, ready AS MATERIALIZED (
    SELECT e.id, e.queue, e.kind, e.rank, e.place
    FROM bound AS b CROSS JOIN route AS r
    CROSS JOIN LATERAL (
        SELECT id, queue, kind, rank, place FROM warp.jobs
        WHERE state = 'enqueued' AND queue = r.queue AND kind = r.kind AND (rank, place, id) < (b.rank, b.place, b.id)
        ORDER BY queue, kind, rank, place, id LIMIT $4::bigint
    ) AS e
)
