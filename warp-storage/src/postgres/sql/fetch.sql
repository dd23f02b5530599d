-- The ready jobs of a turn: in one order over all routes as many as there is room for. Of what is read beyond them each route has a
-- share, so that none is held up behind another's (R45).
-- $3 room, $4 how many to read
, share AS MATERIALIZED (
    SELECT ($4::bigint - $3::bigint) / greatest(1, count(*)) AS size
    FROM route AS r CROSS JOIN LATERAL (
        (SELECT 1 FROM warp.jobs WHERE state = 'enqueued' AND queue = r.queue AND kind = r.kind LIMIT 1)
        UNION ALL
        (SELECT 1 FROM warp.jobs
         WHERE state = 'scheduled' AND queue = r.queue AND kind = r.kind AND place <= (SELECT now FROM moment) LIMIT 1)
        LIMIT 1
    ) AS e
)
, numbered AS MATERIALIZED (
    SELECT id, queue, kind, rank, place,
        row_number() OVER (ORDER BY rank, place, id) AS number,
        row_number() OVER (PARTITION BY queue, kind ORDER BY rank, place, id) AS number_in_route
    FROM ready
)
, fetched AS MATERIALIZED (
    SELECT n.id, n.queue, n.kind, n.rank, n.place FROM numbered AS n CROSS JOIN share AS s
    ORDER BY n.number > $3::bigint AND n.number_in_route > s.size + 1, n.rank, n.place, n.id
    LIMIT $4::bigint
)
