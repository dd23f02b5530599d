-- The first ready jobs of each route. A scheduled job is ready at its place, also where nobody has written so yet.
-- `bound` is the order before which they stand.
-- $4 how many to read
, ready AS MATERIALIZED (
    SELECT e.id, e.queue, e.kind, e.rank, e.place
    FROM bound AS b CROSS JOIN route AS r
    CROSS JOIN LATERAL (
        (SELECT id, queue, kind, rank, place FROM warp.jobs
         WHERE state = 'enqueued' AND queue = r.queue AND kind = r.kind
         ORDER BY queue, kind, rank, place, id LIMIT $4::bigint)
        UNION ALL
        (SELECT id, queue, kind, rank, place FROM warp.jobs
         WHERE state = 'scheduled' AND queue = r.queue AND kind = r.kind AND place <= (SELECT now FROM moment)
         ORDER BY queue, kind, place, id LIMIT CASE WHEN $4::bigint > 0 THEN 500 ELSE 0 END)
    ) AS e
)
