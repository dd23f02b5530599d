-- The ready jobs of a turn: in one order over all routes as many as there is room for. Of what is read beyond them each route has a
-- share, so that none is held up behind another's (R45). A scheduled job is ready at its place, also where nobody has written so yet.
-- `bound` is the order before which they stand.
-- ?2 now, ?3 room, ?4 how many to read
, ready AS MATERIALIZED (
    SELECT j.id, j.queue, j.kind, j.rank, j.place
    FROM bound AS b CROSS JOIN route AS r
    CROSS JOIN json_each((
        SELECT json_group_array(id) FROM (
            SELECT * FROM (
                SELECT id FROM warp_jobs
                WHERE state = 'enqueued' AND queue = r.queue AND kind = r.kind AND (rank, place, id) < (b.rank, b.place, b.id)
                ORDER BY rank, place, id LIMIT ?4)
            UNION ALL
            SELECT * FROM (
                SELECT id FROM warp_jobs
                WHERE state = 'scheduled' AND queue = r.queue AND kind = r.kind AND place <= ?2
                ORDER BY place, id LIMIT iif(?4 > 0, 500, 0)))
    )) AS e
    CROSS JOIN warp_jobs AS j ON j.id = e.value
    WHERE (j.rank, j.place, j.id) < (b.rank, b.place, b.id)
)
, share(size) AS MATERIALIZED (
    SELECT (?4 - ?3) / max(1, count(*)) FROM route AS r
    WHERE EXISTS (SELECT 1 FROM warp_jobs WHERE state = 'enqueued' AND queue = r.queue AND kind = r.kind)
       OR EXISTS (SELECT 1 FROM warp_jobs WHERE state = 'scheduled' AND queue = r.queue AND kind = r.kind AND place <= ?2)
)
, numbered AS (
    SELECT id, rank, place,
        row_number() OVER (ORDER BY rank, place, id) AS number,
        row_number() OVER (PARTITION BY queue, kind ORDER BY rank, place, id) AS number_in_route
    FROM ready
)
, fetched AS MATERIALIZED (
    SELECT n.id, n.rank, n.place FROM numbered AS n CROSS JOIN share AS s
    ORDER BY n.number > ?3 AND n.number_in_route > s.size + 1, n.rank, n.place, n.id
    LIMIT ?4
)
