-- The lanes to judge, by their heads: the due ones of the worker's routes, and of the line of each freed key as many as slots were
-- freed there, and one.
-- ?2 now, ?3 room, ?5 the freed keys, [{family, key, count}]
, due AS MATERIALIZED (
    SELECT e.value AS id FROM route AS r
    CROSS JOIN json_each((
        SELECT json_group_array(id) FROM (
            SELECT id FROM warp_lanes
            WHERE queue = r.queue AND kind = r.kind AND next_at IS NOT NULL AND next_at <= ?2
            ORDER BY next_at, id LIMIT iif(?3 > 0, 500, 0))
    )) AS e
)
, freed AS MATERIALIZED (
    SELECT f.key AS number, (f.value ->> 'count') + 1 AS count, l.id, l.head_rank, l.head_place, l.head
    FROM json_each(?5) AS f
    CROSS JOIN route AS r
    CROSS JOIN json_each((
        SELECT json_group_array(id) FROM (
            SELECT id FROM warp_lanes
            WHERE sleep_family = f.value ->> 'family' AND sleep_key = f.value ->> 'key' AND queue = r.queue AND kind = r.kind
            ORDER BY head_rank, head_place, head LIMIT iif(?3 > 0, ?3 + 1, 0))
    )) AS e
    CROSS JOIN warp_lanes AS l ON l.id = e.value
)
, next_of_freed AS (
    SELECT id, row_number() OVER (PARTITION BY number ORDER BY head_rank, head_place, head) <= count AS is_next FROM freed
)
, heads AS MATERIALIZED (
    SELECT l.id, l.head_rank, l.head_place, l.head
    FROM (SELECT id FROM due UNION SELECT id FROM next_of_freed WHERE is_next) AS j
    CROSS JOIN warp_lanes AS l ON l.id = j.id
    ORDER BY l.head_rank, l.head_place, l.head LIMIT ?3 + 1
)
, judged AS MATERIALIZED (
    SELECT id FROM heads ORDER BY head_rank, head_place, head LIMIT ?3
)
-- The first head that is left out: what comes behind it is for the next turn, or it would overtake (R43).
, bound(rank, place, id) AS MATERIALIZED (
    SELECT * FROM (SELECT head_rank, head_place, head FROM heads ORDER BY head_rank, head_place, head LIMIT 1 OFFSET ?3)
    UNION ALL
    SELECT 9223372036854775807, 9223372036854775807, 9223372036854775807
    LIMIT 1
)
