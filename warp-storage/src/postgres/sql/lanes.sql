-- The lanes to judge, by their heads: the due ones of the worker's routes, and of the line of each freed key as many as slots were
-- freed there, and one.
-- $3 room, $5 the freed keys, [{family, key, count}]
, due AS MATERIALIZED (
    SELECT e.lane, e.head_rank, e.head_place, e.head FROM route AS r CROSS JOIN LATERAL (
        SELECT lane, head_rank, head_place, head FROM warp.lines
        WHERE queue = r.queue AND kind = r.kind AND next_at IS NOT NULL AND next_at <= (SELECT now FROM moment)
        ORDER BY queue, kind, next_at, lane LIMIT CASE WHEN $3::bigint > 0 THEN 500 ELSE 0 END) AS e
)
, next_of_freed AS MATERIALIZED (
    SELECT e.lane, e.head_rank, e.head_place, e.head,
        row_number() OVER (PARTITION BY f.family, f.key ORDER BY e.head_rank, e.head_place, e.head) <= f.count + 1 AS is_next
    FROM json_to_recordset($5::json) AS f (family text, key text, count bigint)
    CROSS JOIN route AS r
    CROSS JOIN LATERAL (
        SELECT lane, head_rank, head_place, head FROM warp.lines
        WHERE sleep_family = f.family AND sleep_key = f.key AND queue = r.queue AND kind = r.kind
        ORDER BY sleep_family, sleep_key, queue, kind, head_rank, head_place, head
        LIMIT CASE WHEN $3::bigint > 0 THEN $3::bigint + 1 ELSE 0 END) AS e
)
, heads AS MATERIALIZED (
    SELECT lane, head_rank, head_place, head FROM (
        SELECT lane, head_rank, head_place, head FROM due
        UNION
        SELECT lane, head_rank, head_place, head FROM next_of_freed WHERE is_next) AS j
    ORDER BY head_rank, head_place, head LIMIT $3::bigint + 1
)
, judged AS MATERIALIZED (
    SELECT lane FROM heads ORDER BY head_rank, head_place, head LIMIT $3::bigint
)
-- The first head that is left out: what comes behind it is for the next turn, or it would overtake (R43).
, bound AS MATERIALIZED (
    SELECT rank, place, id FROM (
        (SELECT head_rank AS rank, head_place AS place, head AS id FROM heads
         ORDER BY head_rank, head_place, head LIMIT 1 OFFSET $3::bigint)
        UNION ALL
        SELECT 9223372036854775807, 9223372036854775807, 9223372036854775807) AS b
    ORDER BY rank, place, id LIMIT 1
)
