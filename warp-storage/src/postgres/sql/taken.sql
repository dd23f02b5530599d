-- The fetched jobs, locked. Where another turn has some of them, the next ones of their routes are taken instead.
, counted AS MATERIALIZED (
    SELECT queue, kind, count(*) AS number, (array_agg(rank ORDER BY rank, place, id))[1] AS rank,
        (array_agg(place ORDER BY rank, place, id))[1] AS place, (array_agg(id ORDER BY rank, place, id))[1] AS id
    FROM fetched GROUP BY queue, kind
)
, taken AS MATERIALIZED (
    SELECT j.* FROM bound AS b CROSS JOIN counted AS c CROSS JOIN LATERAL (
        SELECT id, queue, kind, rank, place, attempts, starts, stamp FROM warp.jobs
        WHERE state = 'enqueued' AND queue = c.queue AND kind = c.kind
          AND (rank, place, id) >= (c.rank, c.place, c.id) AND (rank, place, id) < (b.rank, b.place, b.id)
        ORDER BY queue, kind, rank, place, id LIMIT c.number
        FOR UPDATE SKIP LOCKED) AS j
)
