-- The head of a lane is whoever is first now, and has not been refused yet. A lane in which nobody waits any more goes, and what its keys
-- kept for it is for others now.
-- $1 [lane], $2 now
WITH mended AS MATERIALIZED (
    SELECT i.id, i.keys, f.rank, f.place, f.head
    FROM (SELECT DISTINCT id::bigint AS id FROM json_array_elements_text($1::json) AS e (id)) AS e
    CROSS JOIN LATERAL (SELECT id, keys FROM warp.lanes WHERE id = e.id LIMIT 1) AS i
    LEFT JOIN LATERAL (
        SELECT rank, place, id AS head FROM warp.jobs WHERE state = 'waiting' AND lane = e.id
        ORDER BY lane, rank, place, id LIMIT 1) AS f ON true
)
, moved AS (
    UPDATE warp.lines AS l
    SET refusals = CASE WHEN l.head = m.head THEN l.refusals ELSE 0 END, head_rank = m.rank, head_place = m.place, head = m.head
    FROM mended AS m CROSS JOIN LATERAL (SELECT ctid AS found FROM warp.lines WHERE lane = m.id LIMIT 1) AS f
    WHERE l.ctid = f.found AND m.head IS NOT NULL
)
, gone_line AS (
    DELETE FROM warp.lines AS l
    USING mended AS m CROSS JOIN LATERAL (SELECT ctid AS found FROM warp.lines WHERE lane = m.id LIMIT 1) AS f
    WHERE l.ctid = f.found AND m.head IS NULL
)
, gone_lane AS (
    DELETE FROM warp.lanes AS l
    USING mended AS m CROSS JOIN LATERAL (SELECT ctid AS found FROM warp.lanes WHERE id = m.id LIMIT 1) AS f
    WHERE l.ctid = f.found AND m.head IS NULL
)
UPDATE warp.limiters AS l SET look_at = $2::bigint
FROM (
    SELECT DISTINCT k.family, k.key FROM mended AS m CROSS JOIN LATERAL json_to_recordset(m.keys::json) AS k (family text, key text)
    WHERE m.head IS NULL) AS k
CROSS JOIN LATERAL (SELECT ctid AS found FROM warp.limiters WHERE family = k.family AND key = k.key LIMIT 1) AS f
WHERE l.ctid = f.found
