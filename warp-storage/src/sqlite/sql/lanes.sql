-- The lanes to judge, by their heads: the due ones of the worker's routes, and of the line of each freed key as many as slots were
-- freed there, and one. One more than there is room for: what comes behind it is for the next turn, or it would overtake (R43).
-- ?2 now, ?3 how many lanes, ?4 the freed keys, [{family, key, count}]
, due AS MATERIALIZED (
    SELECT e.value AS id FROM route AS r
    CROSS JOIN json_each((
        SELECT json_group_array(id) FROM (
            SELECT id FROM warp_lanes
            WHERE queue = r.queue AND kind = r.kind AND next_at IS NOT NULL AND next_at <= ?2
            ORDER BY next_at, id LIMIT iif(?3 > 1, 500, 0))
    )) AS e
)
, freed AS MATERIALIZED (
    SELECT f.key AS number, (f.value ->> 'count') + 1 AS count, l.id, l.head_rank, l.head_place, l.head
    FROM json_each(?4) AS f
    CROSS JOIN route AS r
    CROSS JOIN json_each((
        SELECT json_group_array(id) FROM (
            SELECT id FROM warp_lanes
            WHERE sleep_family = f.value ->> 'family' AND sleep_key = f.value ->> 'key' AND queue = r.queue AND kind = r.kind
            ORDER BY head_rank, head_place, head LIMIT iif(?3 > 1, ?3, 0))
    )) AS e
    CROSS JOIN warp_lanes AS l ON l.id = e.value
)
, next_of_freed AS (
    SELECT id, row_number() OVER (PARTITION BY number ORDER BY head_rank, head_place, head) <= count AS is_next FROM freed
)
, judged AS MATERIALIZED (
    SELECT l.* FROM (SELECT id FROM due UNION SELECT id FROM next_of_freed WHERE is_next) AS j
    CROSS JOIN warp_lanes AS l ON l.id = j.id
    ORDER BY l.head_rank, l.head_place, l.head LIMIT ?3
)
SELECT json_object(
    'workers', (
        SELECT json_group_array(json_object(
            'id', id, 'process', process, 'queues', json(queues), 'kinds', json(kinds),
            'lease', lease, 'last_seen', last_seen, 'draining', draining))
        FROM warp_workers),
    'latest', (SELECT max(s.latest, coalesce((SELECT max(latest) FROM warp_workers), s.latest)) FROM warp_store AS s),
    'last_line', coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'warp_log'), 0),
    'last_lane', coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'warp_lanes'), 0),
    'looks', (
        SELECT json_group_array(json_object('family', family, 'key', key)) FROM (
            SELECT family, key FROM warp_limiters WHERE look_at IS NOT NULL AND look_at <= ?2
            ORDER BY look_at, family, key LIMIT 64)),
    'lanes', (
        SELECT json_group_array(json_object(
            'id', id, 'queue', queue, 'kind', kind, 'keys', json(keys), 'sleep_family', sleep_family, 'sleep_key', sleep_key,
            'next_at', next_at, 'refusals', refusals, 'rank', head_rank, 'place', head_place, 'head', head))
        FROM judged))
